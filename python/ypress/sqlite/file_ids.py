"""The database of jupyter_server_fileid: only read."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from .opening import open_existing

__all__ = ["read_file_ids"]


def read_file_ids(file: Path) -> dict[str, str]:
    """The path of every file by its id.

    Raises:
        sqlite3.Error: the file is not that database.
    """
    with closing(open_existing(file, busy_timeout=1.0)) as connection:
        query = "SELECT id, path FROM Files WHERE id IS NOT NULL AND path IS NOT NULL"
        return {str(identity): str(path) for identity, path in connection.execute(query)}
