"""Everything that touches the file: one `Database` for each file and process, and what is done with its tables.

All SQL is here, and all of it goes through Python's own `sqlite3`.
"""

from __future__ import annotations

from .connection import MEMORY, Location
from .database import Database, acquire
from .errors import DamagedHistory, NotDurable, NotStarted, StoreError, StoreUnavailable
from .options import Options
from .values import Values, resolve_callback
from .worker import Write

__all__ = [
    "MEMORY",
    "DamagedHistory",
    "Database",
    "Location",
    "NotDurable",
    "NotStarted",
    "Options",
    "StoreError",
    "StoreUnavailable",
    "Values",
    "Write",
    "acquire",
    "resolve_callback",
]
