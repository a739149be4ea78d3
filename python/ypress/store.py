"""`SQLiteYStore`: a drop-in for pycrdt-store's, that loses nothing and can pack history.

Use it as the stock class::

    class MyStore(ypress.store.SQLiteYStore):
        db_path = "path/to/my_ystore.db"
        compression = "zstd"
"""

from __future__ import annotations

import os
import time
import warnings
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from inspect import isawaitable
from logging import Logger, getLogger
from types import MethodType
from typing import Any

try:
    import anyio
    import anyio.to_thread
    import pycrdt.store
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] not in ("anyio", "pycrdt"):
        raise
    raise ModuleNotFoundError(
        f"ypress.store needs {error.name}; pip install 'ypress[store]'", name=error.name
    ) from error
from anyio import TASK_STATUS_IGNORED, Event, Lock, create_task_group
from anyio.abc import TaskGroup, TaskStatus
from pycrdt import Doc
from pycrdt.store import YDocNotFound

from .errors import Error
from .sqlite.calls import AsyncConnection, ask
from .sqlite.connection import Location
from .sqlite.database import Database
from .sqlite.errors import DamagedHistory, NotDurable, NotStarted, StoreError, StoreUnavailable
from .sqlite.notify import Completion
from .sqlite.options import Options
from .sqlite.share import Share
from .sqlite.values import Values, resolve_callback
from .sqlite.worker import Write
from .words import counted

__all__ = [
    "DamagedHistory",
    "NotDurable",
    "NotStarted",
    "SQLiteYStore",
    "StoreError",
    "StoreUnavailable",
    "YDocNotFound",
]

_MB = 1024 * 1024
# Seconds that starting waits for the file; writes are taken over, and wait, from the beginning.
_OPENING = 1.0
_NOT_STARTED = "YStore not started: use it within `async with store`, or start it in a task group first"


def _checked(metadata: object) -> bytes | None:
    """Metadata that SQLite takes."""
    if metadata is None or isinstance(metadata, bytes):
        return metadata
    if isinstance(metadata, str):
        return metadata  # type: ignore[return-value] # no bytes, but the stock store stores it
    try:
        return bytes(memoryview(metadata))  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"metadata is {type(metadata).__name__}, not bytes; the update is stored without it") from None


def _give_up_metadata(database: Database, write: Write, metadata: object) -> None:
    """Store an update without its metadata, since nobody waits for that any more."""
    if isinstance(metadata, Coroutine):
        metadata.close()
    write.ready = True
    database.ready()


class SQLiteYStore(pycrdt.store.SQLiteYStore):
    """A store of one document in an SQLite file that it shares with others.

    Takes the place of ``pycrdt.store.SQLiteYStore``, whose options it has. Subclass it to set options::

        class MyStore(SQLiteYStore):
            db_path = "path/to/my_ystore.db"
            compression = "zstd"

    An update is taken over by `write` before its first await, and is on disk when `write` returns. A file that cannot
    be written for a while (locked, disk full) loses nothing: what waits is stored in order when the fault ends.
    """

    #: ``"zstd"``, ``"lz4"``, ``"brotli"``, or None: values are written as the stock store does.
    compression: str | None = None
    #: The codec's level; None for its default.
    compression_level: int | None = None
    #: A callable (or the dotted path of one) that takes the place of the codec for rows.
    compress: Callable[[bytes], bytes] | str | None = None
    #: A callable (or the dotted path of one) that reads what ypress does not recognise.
    decompress: Callable[[bytes], bytes] | str | None = None
    #: Seconds to wait for another process's lock before a write is tried again later.
    busy_timeout: float = 5.0
    #: SQLite's journal mode, or None to leave it as it is. ``"wal"`` is not for network file systems.
    journal_mode: str | None = None
    #: The most bytes that one value may unfold to when it is read; larger updates are stored as they are.
    #: None for `ypress.DEFAULT_MAX_SIZE`.
    max_update_size: int | None = None
    #: Whether rows move into segments, where `compression` is set.
    pack_history: bool = True
    #: Loose rows of a document that start packing.
    pack_every: int = 500
    #: Seconds without a write after which the rest is packed.
    pack_idle: float = 30.0
    #: Seconds that `stop` waits for what could not be stored yet.
    stop_timeout: float = 10.0

    # What was started last; it stays, closed, when the store is stopped.
    _share: Share | None = None

    def __init__(
        self,
        path: str,
        metadata_callback: Callable[[], Awaitable[bytes] | bytes] | None = None,
        log: Logger | None = None,
    ) -> None:
        """Make a store; nothing is opened before it is started.

        Args:
            path: the document's path key in the file.
            metadata_callback: called at every write for the metadata to store with it; it may be asynchronous.
            log: where faults are told; this module's logger if None.
        """
        if not isinstance(path, str):
            raise TypeError(f"path is {type(path).__name__}, not str")
        try:
            path.encode()
        except UnicodeEncodeError as error:
            raise ValueError(f"path = {path!r} cannot be stored as text: {error}") from None
        self.path = path
        self.metadata_callback = metadata_callback
        self.log = log or getLogger(__name__)
        self.lock = Lock()
        self.db_initialized = None

    # Options.

    def register_compression_callbacks(
        self, compress: Callable[[bytes], bytes], decompress: Callable[[bytes], bytes]
    ) -> None:
        """Have values compressed and decompressed by these; see the options `compress` and `decompress`.

        Raises:
            TypeError: one of them is not callable.
        """
        super().register_compression_callbacks(compress, decompress)
        if self._share is not None:
            self._share.options = self._make_options()

    def _callback(self, name: str) -> Callable[[bytes], bytes] | None:
        value = getattr(self, name)
        if isinstance(value, MethodType) and value.__self__ is self:
            value = value.__func__  # a function that is set as class attribute is meant as it is, not as a method
        return resolve_callback(name, value)

    def _make_options(self) -> Options:
        compress = self._compress or self._callback("compress")
        decompress = self._decompress or self._callback("decompress")
        values = Values(
            compression=self.compression,
            level=self.compression_level,
            compress=compress,
            decompress=decompress,
            max_size=self.max_update_size,
            log=self.log,
        )
        if self.squash_after_inactivity_of is None and self.document_ttl is not None:
            warnings.warn(
                "`document_ttl` is deprecated. Use `squash_after_inactivity_of` instead.",
                DeprecationWarning,
                stacklevel=3,
            )
            self.squash_after_inactivity_of = self.document_ttl
        return Options(
            values=values,
            squash_after_inactivity_of=self.squash_after_inactivity_of,
            squash_history_older_than=self.squash_history_older_than,
            squash_no_more_often_than=self.squash_no_more_often_than or 0,
            checkpoint_interval=self.checkpoint_interval,
            pack=bool(self.pack_history and self.compression),
            pack_every=self.pack_every,
            pack_idle=self.pack_idle,
        )

    # Life.

    async def start(
        self,
        *,
        task_status: TaskStatus[None] = TASK_STATUS_IGNORED,
        from_context_manager: bool = False,
    ) -> None:
        """Start the store, and run until it is stopped or the task is cancelled.

        Raises:
            RuntimeError: it is running already.
            ValueError, TypeError: an option is wrong.
        """
        if from_context_manager:
            assert self._task_group is not None
            self._open()
            await self._set_out(self._task_group, task_status)
            return
        async with self._start_lock:
            if self._task_group is not None:
                raise RuntimeError("YStore already running")
            self._open()
            try:
                async with create_task_group() as self._task_group:
                    await self._set_out(self._task_group, task_status)
                    await self.stopped.wait()
            finally:
                # A room that is torn down cancels this task and does not call `stop`.
                self._task_group = None
                self._close()

    async def __aexit__(self, exc_type: Any, exc_value: Any, exc_tb: Any) -> Any:
        """Stop the store, and leave its task group also where that fails."""
        try:
            await self.stop()
        finally:
            handled = await self._exit_stack.__aexit__(exc_type, exc_value, exc_tb)
        return handled

    async def stop(self) -> None:
        """Stop the store, once everything that was written is on disk.

        Raises:
            RuntimeError: it is not running.
            NotDurable: something could not be stored within `stop_timeout` seconds. It stays in memory, is tried again
                as long as the process lives, and is seen by stores of the same file.
        """
        if self._task_group is None:
            raise RuntimeError("YStore not running")
        task_group, share = self._task_group, self._share
        self._task_group = None
        self._close()
        self.stopped.set()
        task_group.cancel_scope.cancel()
        if share is None:
            return
        with anyio.CancelScope(shield=True):
            left = await anyio.to_thread.run_sync(share.drain, self.stop_timeout)
        if left:
            raise NotDurable(
                f"document {self.path}: {counted(left, 'update')} not stored in {share.location.path}: "
                f"{share.database.fault}; they stay in memory and are tried again while this process lives",
                self.path,
            )

    def _open(self) -> None:
        """Join the file's database; it is opened in its own thread."""
        if self._stopped is not None and self._stopped.is_set():
            self._stopped = None
        options = self._make_options()
        limit = self.cleanup_when_db_size_above
        if limit is not None and not isinstance(limit, int | float):
            raise TypeError(f"cleanup_when_db_size_above = {limit!r}; it is a number of MB, or None")
        location = Location(os.fspath(self.db_path), self.version, self.busy_timeout, self.journal_mode)
        self._share = Share(location, self.path, options, self.log)
        self._db: Any = AsyncConnection(self._share.database)
        self.db_initialized = Event()

    def _close(self) -> None:
        """Leave the file's database; it is closed in its own thread, once everything is stored."""
        if self._share is not None:
            self._share.close()
        self._started = None

    async def _set_out(self, task_group: TaskGroup, task_status: TaskStatus[None]) -> None:
        """Tell that the store has started, once the file is open or it has become clear that this takes longer."""
        with anyio.move_on_after(_OPENING):
            await self._init_db()
        if self.db_initialized is not None and not self.db_initialized.is_set():
            task_group.start_soon(self._init_db)
        task_status.started()
        self.started.set()

    async def _init_db(self) -> None:
        """Wait until the file is open, or cannot be opened: reading tells why, writing waits."""
        share, initialized = self._running(), self.db_initialized
        try:
            await ask(share.database, lambda _: None)
        except Error as error:
            self.log.error("%s", error)
        if initialized is not None:
            initialized.set()

    def _running(self) -> Share:
        if self._share is None or self._share.closed:
            raise NotStarted(_NOT_STARTED, self.path)
        return self._share

    # Writing.

    def write(self, data: bytes) -> Coroutine[Any, Any, None]:
        """Store an update; to be awaited.

        It is taken over when this is called: a task that is cancelled before it has begun loses nothing either. Waits
        while the file cannot be written.

        Args:
            data: the update's bytes.

        Raises:
            NotStarted: the store has never been started.
            TypeError: data has no bytes, or the metadata has none; in the second case, the update is stored.
            StoreError: SQLite refuses the update for itself, for example because it exceeds a gigabyte.
        """
        try:
            database, write, metadata = self._hand_over(data)
        except Exception as error:  # noqa: BLE001 - raised where the write is awaited
            return self._fail(data, error)
        stored = self._stored(database, write, metadata)
        if not write.ready:
            # A coroutine that never begins, since its task was cancelled before, has no `finally`.
            weakref.finalize(stored, _give_up_metadata, database, write, metadata).atexit = False
        return stored

    def _hand_over(self, data: bytes) -> tuple[Database, Write, object]:
        """Take an update over; its metadata may be an awaitable, or the exception that came instead."""
        share = self._share
        if share is None:
            raise NotStarted(_NOT_STARTED, self.path)
        update = data if isinstance(data, bytes) else bytes(memoryview(data))
        write = Write(self.path, update, time.time(), share.options, completion=Completion())
        metadata: object
        try:
            metadata = self._metadata()
            if not isawaitable(metadata):
                write.metadata = _checked(metadata)
        except Exception as error:  # noqa: BLE001 - raised where the write is awaited, once the update is safe
            metadata = error
        write.ready = not isawaitable(metadata)
        return share.submit(write), write, metadata

    async def _fail(self, data: object, error: Exception) -> None:
        """What becomes of data that could not be taken over."""
        raise error

    async def _stored(self, database: Database, write: Write, metadata: object) -> None:
        """Wait until an update is on disk."""
        if isawaitable(metadata):
            try:
                write.metadata = _checked(await metadata)
            except Exception as error:  # noqa: BLE001 - raised below, once the update is safe
                metadata = error
            finally:  # cancelled: the update is stored all the same
                write.ready = True
                database.ready()
        if write.completion is not None:
            await write.completion.wait()
        if isinstance(metadata, Exception):
            raise metadata
        if self.cleanup_when_db_size_above and self._share is not None and not self._share.closed:
            await self._cleanup_if_needed()

    def _metadata(self) -> object:
        """The metadata for a write, or an awaitable of it."""
        if type(self).get_metadata is not pycrdt.store.BaseYStore.get_metadata:
            return self.get_metadata()
        return b"" if self.metadata_callback is None else self.metadata_callback()

    # Reading.

    async def read(
        self, *, damage: Callable[[DamagedHistory], object] | None = None
    ) -> AsyncGenerator[tuple[bytes, bytes, float], None]:
        """The stored updates, in the order in which they were written.

        Nothing is held between two of them: others may write, pack or squash meanwhile.

        Args:
            damage: called with the error for what cannot be read or is missing, which is left out then; in the reader's
                thread, when the reader comes to that place.

        Yields:
            (update, metadata, timestamp in seconds since the epoch)

        Raises:
            YDocNotFound: nothing is stored under this path.
            DamagedHistory: a stored value cannot be read, and `damage` is None; those before it have been yielded.
            StoreError: another process has removed the document, or a part of it, since this began.
            StoreUnavailable: the file cannot be read at the moment.
            NotStarted: the store is not running.
        """
        found = False
        # Closed with this one, wherever that is left: trio takes no other care of it.
        async with aclosing(self._running().pages(damage)) as pages:
            async for records in pages:
                for record in records:
                    found = True
                    # Upstream's signature does not know that its own squashing stores None as metadata.
                    yield record  # type: ignore[misc]
        if not found:
            raise YDocNotFound

    async def apply_updates(self, ydoc: Doc[Any]) -> None:
        """Load the document: apply its latest checkpoint and everything after it.

        What the document holds before, and its history lacks, is stored ahead of the next write.

        Args:
            ydoc: the document to apply them to.

        Raises:
            YDocNotFound: nothing is stored under this path.
            DamagedHistory: a stored value that is needed cannot be read. The document's records were moved aside, so
                that the document can be opened and written again; nothing was deleted.
            StoreUnavailable: the file cannot be read at the moment.
            NotStarted: the store is not running.
        """
        if not await self._running().load(ydoc):
            raise YDocNotFound

    # Size.

    async def _get_database_size_mb(self) -> float:
        """The size of the file in MB."""
        return await self._running().size() / _MB

    async def _cleanup_if_needed(self) -> bool:
        """Make the file smaller if it has grown above the limit; the content of all documents is kept.

        Returns:
            Whether it was made small enough.
        """
        if not self.cleanup_when_db_size_above:
            return False
        return await self._running().clean_up(int(self.cleanup_when_db_size_above * _MB))
