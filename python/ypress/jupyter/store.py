"""`SQLiteYStore` for jupyter-collaboration: the store with its options as traits, and no fault that stops a room."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Sized
from contextlib import aclosing
from logging import Logger, LoggerAdapter
from typing import Any

import anyio
import jupyter_server_ydoc.stores  # type: ignore[import-untyped]
from anyio import TASK_STATUS_IGNORED
from anyio.abc import TaskStatus
from pycrdt import Doc
from traitlets import Any as AnyTrait
from traitlets import Bool, Enum, Float, Int, TraitError, validate
from traitlets.config import Config, LoggingConfigurable

import ypress.store

from ..callbacks import callbacks
from ..errors import Error
from ..sqlite.database import Database
from ..sqlite.errors import DamagedHistory, NotDurable, StoreUnavailable
from ..sqlite.values import resolve_callback
from ..sqlite.worker import Write
from .running import running_config

__all__ = ["CODECS", "SQLiteYStore"]

CODECS = ("zstd", "lz4", "brotli")
# Seconds that a room waits for its whole state to be on disk. It stays queued, however long that takes.
_PATIENCE = 5.0
# Seconds between two attempts to read a file that is locked.
_AGAIN = 0.5
# Seconds after loading until it is looked at what the room has set in the document, and again until that is settled: an
# edit would have been handed over in between.
_LOOK_AFTER = 0.25
# Seconds between two log lines about writes that fail for the same document.
_LOG_EVERY = 60.0


class SQLiteYStore(ypress.store.SQLiteYStore, jupyter_server_ydoc.stores.SQLiteYStore):  # type: ignore[misc]
    """The store of jupyter-collaboration, for ``c.YDocExtension.ystore_class = "ypress.jupyter.SQLiteYStore"``.

    Its options are set as those of the stock class: ``c.SQLiteYStore.compression = "zstd"``.

    A notebook always opens: where its history cannot be read, it opens from its file, and the history is kept. A write
    that cannot be stored stays queued and never stops the room.
    """

    compression = Enum(
        CODECS,
        default_value=None,
        allow_none=True,
        help="""How updates are compressed: 'zstd', 'lz4', 'brotli', or None. With None, the default, updates are
        written as the stock store does, and everything that was written before is still read. Once a codec is set,
        history moves into segments as well (see pack_history), where most of the saving is.""",
    ).tag(config=True)
    compression_level = Int(
        None,
        allow_none=True,
        help="""The codec's level: -7 to 19 for zstd, 0 to 11 for brotli; lz4 has none. None for its default.""",
    ).tag(config=True)
    compress = AnyTrait(
        None,
        allow_none=True,
        help="""A callable, or the dotted path of one ('package.module.function'), that takes the place of the codec
        for rows: it takes and returns bytes. None for the codec named by compression.""",
    ).tag(config=True)
    decompress = AnyTrait(
        None,
        allow_none=True,
        help="""A callable, or the dotted path of one, that reads values which ypress does not recognise, for a store
        that other compression callbacks have written. None if there are none.""",
    ).tag(config=True)
    busy_timeout = Float(
        5.0,
        min=0,
        help="""Seconds to wait for another process's lock on the file before a write is tried again later.""",
    ).tag(config=True)
    load_timeout = Float(
        30.0,
        min=0,
        help="""Seconds that opening a document waits for a store that another process has locked. After that, the
        document opens from its file, and the history that could not be read is moved aside with the first write.""",
    ).tag(config=True)
    journal_mode = Enum(
        ("delete", "truncate", "persist", "memory", "wal"),
        default_value=None,
        allow_none=True,
        help="""SQLite's journal mode, or None to leave it as it is. 'wal' is not for network file systems.""",
    ).tag(config=True)
    max_update_size = Int(
        None,
        allow_none=True,
        min=1,
        help="""The most bytes that one value may unfold to when it is read; larger updates are stored as they are.
        None for the default of 256 MiB.""",
    ).tag(config=True)
    pack_history = Bool(
        True,
        help="""Whether history moves from rows into segments, where compression is set. Every update is kept, byte for
        byte. `jupyter ypress restore` brings the rows back.""",
    ).tag(config=True)
    pack_every = Int(
        500,
        min=1,
        help="""How many updates of a document that are not in a segment start packing.""",
    ).tag(config=True)
    pack_idle = Float(
        30.0,
        min=0,
        help="""Seconds without a write after which what is not in a segment is packed.""",
    ).tag(config=True)
    stop_timeout = Float(
        10.0,
        min=0,
        help="""Seconds that stopping the store waits for what could not be stored yet.""",
    ).tag(config=True)
    squash_history_older_than = Int(
        None,
        allow_none=True,
        min=0,
        help="""Seconds: history that is older is squashed into one update, and can no longer be stepped through. None,
        the default, keeps all.""",
    ).tag(config=True)
    squash_no_more_often_than = Int(
        60,
        min=0,
        help="""The least number of seconds between two squashes of a document.""",
    ).tag(config=True)
    checkpoint_interval = Int(
        100,
        allow_none=True,
        min=0,
        help="""Updates between two checkpoints of a document, which make it open fast. None or 0 for none.""",
    ).tag(config=True)
    cleanup_when_db_size_above = Float(
        None,
        allow_none=True,
        min=0,
        help="""Megabytes: when the file is larger, checkpoints are removed and histories squashed, the least recently
        edited ones first. The content of all documents is kept. None for no limit.""",
    ).tag(config=True)

    def __init__(
        self,
        path: str,
        metadata_callback: Callable[[], Awaitable[bytes] | bytes] | None = None,
        log: Logger | LoggerAdapter[Logger] | None = None,
        **traits: Any,
    ) -> None:
        """Make a store; nothing is opened before it is started.

        Args:
            path: the document's path key in the file.
            metadata_callback: called at every write for the metadata to store with it; it may be asynchronous.
            log: where faults are told; the application's logger if None.
            traits: ``config``, ``parent``, or values of traits. Without ``config`` and ``parent``, which is how the
                server makes some of its stores, the configuration of the running server is taken.

        Raises:
            traitlets.TraitError: an option has a wrong value; the message says which there are.
        """
        if traits.get("config") is None and traits.get("parent") is None:
            traits["config"] = running_config() or Config()
        if log is not None:
            traits["log"] = log
        # pycrdt-store's own class is at the end of this chain, and takes the path.
        LoggingConfigurable.__init__(self, path=path, **traits)
        if log is None:
            log = self.trait_defaults("log")
        super().__init__(path, metadata_callback, log)  # type: ignore[arg-type]
        self._check_level()
        self._failures = 0
        self._thread: int | None = None  # in which the document was loaded
        self._logged_at = -_LOG_EVERY

    @validate("compress", "decompress")
    def _check_callback(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        try:
            return resolve_callback(name, value)
        except (ValueError, TypeError) as error:
            raise TraitError(
                f"{error}. It is a callable that takes and returns bytes, its dotted path, or None"
            ) from error

    def _check_level(self) -> None:
        """Refuse a level that the codec does not have, now and not when the first room is waiting for it."""
        try:
            callbacks(self.compression, self.compression_level)
        except (ValueError, TypeError) as error:
            raise TraitError(f"SQLiteYStore.compression_level: {error}") from error

    # Life.

    async def start(
        self, *, task_status: TaskStatus[None] = TASK_STATUS_IGNORED, from_context_manager: bool = False
    ) -> None:
        """Start the store, and run until it is stopped or the task is cancelled.

        A room waits for `started` for as long as it takes, so a store that cannot start says so and lets it go on.
        """
        try:
            await super().start(task_status=task_status, from_context_manager=from_context_manager)
        except Exception:
            if self.started.is_set():
                raise
            self.log.exception(
                "document %s: the store %s cannot be started, and what is edited now is only kept in the document's "
                "file. Look at the store with `jupyter ypress status`",
                self.path,
                self.db_path,
            )
            self.started.set()

    async def stop(self) -> None:
        """Stop the store, once everything that was written is on disk, or `stop_timeout` is over.

        Raises:
            RuntimeError: it is not running.
        """
        try:
            await super().stop()
        except NotDurable as error:
            self.log.error("%s", error)

    def _close(self) -> None:
        # The end of a task that was forgotten may come in any thread, and a document belongs to one.
        if self._share is not None and not self._share.closed and self._thread == threading.get_ident():
            try:
                self._share.submit_rest()
            except Exception:
                self.log.exception("document %s: what its room had not written yet is not stored", self.path)
        super()._close()

    # Writing.

    # An update that can never be stored is told in the log, since an error would end the room.

    async def _stored(self, database: Database, write: Write, metadata: object) -> None:
        try:
            await super()._stored(database, write, metadata)
        except (Error, TypeError, sqlite3.Error) as error:
            self._not_written(len(write.update), error)

    async def _fail(self, data: object, error: Exception) -> None:
        if not isinstance(error, (Error, TypeError, sqlite3.Error)):
            raise error
        self._not_written(len(data) if isinstance(data, Sized) else 0, error)

    def _not_written(self, size: int, error: Exception) -> None:
        self._failures += 1
        now = time.monotonic()
        if now - self._logged_at >= _LOG_EVERY:
            self._logged_at = now
            self.log.error(
                "document %s: writing %d bytes to the store %s failed: %s. In this session %d writes have failed so; "
                "the document and its file have them. Look at the store with `jupyter ypress verify`",
                self.path, size, self.db_path, error, self._failures,
            )  # fmt: skip

    async def encode_state_as_update(self, ydoc: Doc[Any]) -> None:
        """Store the whole document. A room waits for this when it opens, so it returns even while nothing can be
        written; what was taken over is stored later."""
        with anyio.move_on_after(_PATIENCE) as scope:
            await super().encode_state_as_update(ydoc)
        if scope.cancelled_caught:
            self.log.warning(
                "document %s: the store %s cannot be written at the moment; the document opens all the same, and what "
                "is edited waits in memory",
                self.path,
                self.db_path,
            )

    # Reading.

    async def read(
        self, *, damage: Callable[[DamagedHistory], object] | None = None
    ) -> AsyncGenerator[tuple[bytes, bytes, float], None]:
        """The stored updates, in the order in which they were written.

        Args:
            damage: called with the error for what cannot be read, which is left out then. By default the log tells it:
                the timeline of a document shows what there is.

        Yields:
            (update, metadata, timestamp in seconds since the epoch)

        Raises:
            YDocNotFound: nothing is stored under this path.
            StoreError: the file cannot be read at the moment; the log tells that, too.
        """
        try:
            async with aclosing(super().read(damage=damage or self._tell_damage)) as records:
                async for record in records:
                    yield record
        except Error as error:
            self.log.error("the history of document %s cannot be read: %s", self.path, error)
            raise

    def _tell_damage(self, error: DamagedHistory) -> None:
        self.log.error("a part of the history is left out: %s", error)

    async def apply_updates(self, ydoc: Doc[Any]) -> None:
        """Load the document.

        Args:
            ydoc: the document to apply its history to.

        Raises:
            YDocNotFound: nothing is stored under this path, or nothing that can be read; the log says what to do. The
                room makes the document from its file then.
        """
        before = ydoc.get_state()
        self._thread = threading.get_ident()
        try:
            await self._load(ydoc)
            # Rooms of jupyter-server-ydoc 2 set values after loading and before recording, each time they are opened.
            asyncio.get_running_loop().call_later(_LOOK_AFTER, _look, weakref.ref(self))
        except (Error, sqlite3.Error, OSError) as error:
            self._open_from_file(ydoc, error)
            if ydoc.get_state() == before:
                raise ypress.store.YDocNotFound from error
            # It has a part of its history: the room compares it with the file and changes what differs. Made from the
            # file as if it were empty, it would have that part twice.

    async def _load(self, ydoc: Doc[Any]) -> None:
        """Load it; while another process has locked the file, try again for `load_timeout` seconds."""
        deadline = time.monotonic() + self.load_timeout
        while True:
            try:
                await super().apply_updates(ydoc)
            except StoreUnavailable as error:
                if not _is_locked(error) or time.monotonic() >= deadline:
                    raise
                await anyio.sleep(_AGAIN)
            else:
                return

    def _open_from_file(self, ydoc: Doc[Any], error: Exception) -> None:
        """Say why a document is opened from its file, and keep what is stored apart from what it becomes."""
        if self._share is not None:
            self._share.begin_anew(ydoc, f"the history could not be loaded: {error}")
        if isinstance(error, DamagedHistory):
            advice = "The history is kept in the store, moved aside; `jupyter ypress verify` shows what is damaged"
        elif _is_locked(error):
            advice = "Another process has had the store locked for longer than load_timeout: find out which"
        else:
            advice = "The history is kept. Look at the store with `jupyter ypress status` and `jupyter ypress verify`"
        self.log.error("document %s opens from its file: %s. %s", self.path, error, advice)


def _look(store: weakref.ref[SQLiteYStore], settle: bool = False) -> None:
    share = None if (known := store()) is None else known._share
    if share is None or share.closed:
        return
    if settle:
        share.settle()
    else:
        share.look()
        asyncio.get_running_loop().call_later(_LOOK_AFTER, _look, store, True)


def _is_locked(error: BaseException | None) -> bool:
    """Whether SQLite says that another connection has the file locked."""
    while error is not None:
        code = getattr(error, "sqlite_errorcode", None)
        if code is not None:
            return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        error = error.__cause__
    return False
