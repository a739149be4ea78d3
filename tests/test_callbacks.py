"""callbacks and register: pairs for a pycrdt store, and the warning about stores that cannot read what they write."""

from __future__ import annotations

import importlib.metadata
import pickle
import subprocess
import sys
import warnings

import pytest
from pycrdt.store import FileYStore, SQLiteYStore

import ypress

DATA = b"some words to compress " * 20


@pytest.mark.parametrize(
    ("codec", "level"), [("zstd", None), ("zstd", -7), ("zstd", 19), ("lz4", None), ("brotli", None), ("brotli", 11)]
)
def test_pairs(codec: str, level: int | None) -> None:
    compress, decompress = ypress.callbacks(codec, level)
    assert compress is not None
    assert decompress is not None
    stored = compress(DATA)
    assert stored == ypress.compress(DATA, codec, level)
    assert decompress(stored) == DATA
    other = pickle.loads(pickle.dumps((compress, decompress)))
    assert other[0](DATA) == stored
    assert other[1](stored) == DATA
    assert other[0] == compress
    assert len({other[0], compress}) == 1
    assert compress != ypress.callbacks("zstd", 7)[0]
    assert codec in repr(compress)


def test_defaults() -> None:
    assert ypress.callbacks() == ypress.callbacks("zstd", 3)
    assert ypress.callbacks(None) == (None, None)
    with pytest.raises(ValueError, match="no codec to apply to"):
        ypress.callbacks(None, 3)
    assert ypress.decompress(ypress.compress(DATA)) == DATA


def fresh() -> type[SQLiteYStore]:
    """A class of store that nothing has been said about yet."""
    return type("Store", (SQLiteYStore,), {"__module__": "pycrdt.store"})


@pytest.fixture
def pycrdt_store(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """The installed version of pycrdt-store, as its metadata has it."""
    version = str(request.param)
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version if name == "pycrdt-store" else real(name))
    return version


@pytest.mark.parametrize("pycrdt_store", ["0.1.1", "0.1.3", "0.1.5", "0.1.5.post1"], indirect=True)
def test_a_store_that_cannot_read_is_warned_about_once(pycrdt_store: str) -> None:
    kind = fresh()
    stores = [kind(f"path{number}") for number in range(3)]
    with pytest.warns(RuntimeWarning, match="ypress.store.SQLiteYStore") as caught:
        [ypress.register(store, "lz4") for store in stores]
    assert len(caught) == 1
    message = str(caught[0].message)
    assert pycrdt_store in message
    assert "Store" in message
    assert caught[0].filename == __file__
    for store in stores:
        assert store._compress == ypress.callbacks("lz4")[0]
        assert store._decompress is ypress.decompress
    # Another class is another case.
    with pytest.warns(RuntimeWarning):
        ypress.register(fresh()("path"))


@pytest.mark.parametrize("pycrdt_store", ["0.1.0", "0.1.6", "0.2", "1.0.0"], indirect=True)
@pytest.mark.usefixtures("pycrdt_store")
def test_other_versions_are_trusted() -> None:
    ypress.register(fresh()("path"))


def test_a_warning_that_is_an_error_refuses_every_time() -> None:
    kind = fresh()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            store = kind("path")
            with pytest.raises(RuntimeWarning):
                ypress.register(store)
            assert store._compress is None


def test_a_subclass_that_reads_for_itself_is_trusted() -> None:
    class Reader(SQLiteYStore):
        def read(self):  # type: ignore[no-untyped-def]
            return super().read()

        async def apply_updates(self, ydoc: object) -> None:
            raise NotImplementedError

    ypress.register(Reader("path"))


def test_a_store_that_cannot_compress() -> None:
    class Plain:
        pass

    class Attribute:
        register_compression_callbacks = None

    for store in (Plain(), Attribute(), None, Plain):
        with pytest.raises(TypeError, match="register_compression_callbacks"):
            ypress.register(store)


def test_a_store_needs_no_hash_and_no_base() -> None:
    class Odd:
        __hash__ = None  # type: ignore[assignment]
        pair: tuple[object, object] | None = None

        def register_compression_callbacks(self, compress: object, decompress: object) -> None:
            self.pair = compress, decompress

    store = Odd()
    ypress.register(store, "brotli", 1)
    assert store.pair == ypress.callbacks("brotli", 1)


def test_no_codec_registers_nothing() -> None:
    store = fresh()("path")
    ypress.register(store, None)
    assert store._compress is None
    with pytest.raises(ValueError, match="levels"):
        ypress.register(store, "zstd", 99)
    assert store._compress is None


def test_a_stock_store_without_callbacks_is_refused() -> None:
    with pytest.raises(TypeError, match="FileYStore has no register_compression_callbacks"):
        ypress.register(FileYStore("path"))


def test_importing_loads_nothing_heavy() -> None:
    code = "import sys, ypress; print([m for m in ('numpy', 'pycrdt', 'traitlets', 'click') if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
