"""The stores that are compared: stock and ours, with and without compression and packing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pycrdt.store import SQLiteYStore as Stock

from ypress.sqlite.options import Options
from ypress.sqlite.values import Values
from ypress.store import SQLiteYStore as Ours

CODECS = ("zstd", "lz4", "brotli")


@dataclass(frozen=True)
class Variant:
    """A store class with options.

    Args:
        name: in the tables.
        base: the class.
        options: its attributes.
        callbacks: whether zstandard's functions are registered.
        made: whether the file is there before the rooms open it.
    """

    name: str
    base: type[Stock]
    options: dict[str, Any] = field(default_factory=dict)
    callbacks: bool = False
    made: bool = False

    @property
    def ours(self) -> bool:
        """Whether it is a store of ypress."""
        return self.base is Ours

    def store(self, db: Path, path: str) -> Any:
        """A store of one document, not started."""
        store = type("Store", (self.base,), {"db_path": str(db), **self.options})(path)
        if self.callbacks:
            import zstandard

            store.register_compression_callbacks(zstandard.compress, zstandard.decompress)
        return store

    def own_options(self) -> Options:
        """The options of our store, as its inner parts take them."""
        compression = self.options.get("compression")
        pack = bool(compression) and self.options.get("pack_history", True)
        return Options(values=Values(compression=compression), pack=pack)


STOCK = Variant("stock", Stock)
STOCK_MADE = Variant("stock, file made before", Stock, made=True)
CALLBACKS = Variant("stock, zstandard callbacks", Stock, callbacks=True, made=True)
NONE = Variant("ypress None", Ours)
PACKED = [Variant(f"ypress {codec}", Ours, {"compression": codec}) for codec in CODECS]
LOOSE = [Variant(f"ypress {codec}, rows only", Ours, {"compression": codec, "pack_history": False}) for codec in CODECS]
WRITERS = [STOCK, STOCK_MADE, CALLBACKS, NONE, *PACKED, *LOOSE]
# What is there already is opened and read: how the file came to be makes no difference.
READERS = [STOCK, CALLBACKS, NONE, *PACKED, *LOOSE]
BY_NAME = {variant.name: variant for variant in (*WRITERS, *READERS)}
