"""From the database's thread back to the event loop that waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Protocol, TypeVar

import anyio

__all__ = ["Completion", "outcome", "resolve"]

T = TypeVar("T")


class _Loop(Protocol):
    """Schedules a callback on an event loop from any thread."""

    def __call__(self, callback: Callable[..., object], /, *args: object) -> object: ...


def _current_loop() -> _Loop:
    try:
        return asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:  # not asyncio, so trio: anyio knows no third
        import trio

        return trio.lowlevel.current_trio_token().run_sync_soon


class Completion:
    """What an event loop waits for and the database's thread completes."""

    __slots__ = ("_event", "error", "loop")

    def __init__(self) -> None:
        self._event = anyio.Event()
        self.loop = _current_loop()
        self.error: BaseException | None = None

    async def wait(self) -> None:
        """Wait until it is resolved.

        Raises:
            BaseException: the error that it was resolved with, if there is one.
        """
        await self._event.wait()
        if self.error is not None:
            raise self.error

    def _set(self) -> None:
        self._event.set()


def _set_all(completions: list[Completion]) -> None:
    for completion in completions:
        completion._set()


def resolve(completions: Iterable[Completion]) -> None:
    """Wake all that wait for these, with one call for each event loop."""
    loops: dict[_Loop, list[Completion]] = {}
    for completion in completions:
        loops.setdefault(completion.loop, []).append(completion)
    for loop, waiting in loops.items():
        try:
            loop(_set_all, waiting)
        except RuntimeError:  # the loop is closed (asyncio), or over (trio.RunFinishedError is one): nobody waits
            continue


async def outcome(future: Future[T]) -> T:
    """What a job of the database's thread returns or raises, awaited under asyncio or trio."""
    completion = Completion()
    future.add_done_callback(lambda _: resolve([completion]))
    await completion.wait()
    return future.result()
