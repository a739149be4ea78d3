"""From a path to a store that is open, or to a reason and a way out."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from ..sqlite.opening import Facts, facts, may_write, open_existing
from .errors import Refused

__all__ = ["BUSY_TIMEOUT", "VERSION", "opened"]

# The schema that pycrdt-store 0.1.x and ypress write.
VERSION = 2
# Seconds that one statement waits for another process; a writer of ours then gives up what it holds, and tries again.
BUSY_TIMEOUT = 5.0


@contextmanager
def opened(path: str | PathLike[str], *, write: bool = False) -> Iterator[tuple[sqlite3.Connection, Facts]]:
    """Open a store for as long as it is used.

    Args:
        path: the file.
        write: whether it will be changed.

    Raises:
        Refused: there is no such file, it is not a store, has another schema version, or cannot be written.
    """
    file = Path(path)
    _refuse_what_is_no_file(file)
    try:
        connection = open_existing(file, write=write, busy_timeout=BUSY_TIMEOUT)
    except sqlite3.Error as error:
        raise Refused(f"{file}: {error}; look at the permissions of the file and its folder") from error
    try:
        yield connection, _checked(connection, file, write)
    finally:
        connection.close()


def _refuse_what_is_no_file(file: Path) -> None:
    try:
        status = file.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(f"{file}: a loop of symbolic links") from error
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise Refused(f"{file}: no such file; name the store, usually .jupyter_ystore.db") from error
        raise Refused(f"{file}: {error.strerror}; look at the permissions of the file and its folders") from error
    except ValueError as error:
        raise Refused(f"{file}: {error}; name the store, usually .jupyter_ystore.db") from error
    if file.is_dir():
        raise Refused(f"{file}: is a folder; name the file in it, usually .jupyter_ystore.db")
    if not file.is_file():
        raise Refused(f"{file}: not a file; name the store, usually .jupyter_ystore.db")
    if not status.st_size:
        raise Refused(f"{file}: the file is empty; there is nothing to look after yet")


def _checked(connection: sqlite3.Connection, file: Path, write: bool) -> Facts:
    try:
        known = facts(connection)
    except sqlite3.OperationalError as error:
        raise Refused(f"{file}: {error}; look at the permissions, and for a process that holds it") from error
    except sqlite3.DatabaseError as error:
        reason = "not a SQLite database" if "not a database" in str(error) else str(error)
        raise Refused(f"{file}: {reason}; name a store, usually .jupyter_ystore.db") from error
    if not known.is_store:
        found = ", ".join(sorted(known.tables)[:5]) or "none"
        raise Refused(f"{file}: not a store: it has no table yupdates (its tables: {found}); name another file")
    if known.version != VERSION:
        raise Refused(
            f"{file}: a store of schema version {known.version}, and this is made for version {VERSION}; "
            "open it with the pycrdt-store that wrote it, or a newer ypress"
        )
    if write:
        try:
            may_write(connection)
        except sqlite3.OperationalError as error:
            out = "another process holds it for long; try again later, or stop that process"
            if "readonly" in str(error) or "unable to open" in str(error):
                out = "work on a copy, or as the user who owns it"
            elif "full" in str(error):
                out = "make room on the disk, or work on a copy on a larger one"
            raise Refused(f"{file}: {error}; {out}") from error
    return known
