"""Wrong values are told when the store starts, not when the first row is written."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pytest

from .support import Messages, history, make, sql, typed

pytestmark = pytest.mark.anyio

not_callable = 5


def returns_text(data: bytes) -> Any:
    return "text"


@pytest.mark.parametrize(
    ("option", "error"),
    [
        ({"compression": "zip"}, ValueError),
        ({"compression": "zstd", "compression_level": 99}, ValueError),
        ({"compress": "no.such.module"}, ValueError),
        ({"decompress": "zlib.nothing"}, ValueError),
        ({"decompress": "nodots"}, ValueError),
        ({"compress": f"{__name__}.not_callable"}, TypeError),
        ({"compress": 3}, TypeError),
        ({"journal_mode": "fast"}, ValueError),
        ({"busy_timeout": -1}, ValueError),
        ({"busy_timeout": float("nan")}, ValueError),
    ],
)
async def test_wrong_values(db: Path, option: dict[str, Any], error: type[Exception]) -> None:
    store = make(db, **option)
    with pytest.raises(error):
        await store.__aenter__()
    assert not db.exists()


@pytest.mark.parametrize("dotted", [False, True])
async def test_callbacks(db: Path, dotted: bool) -> None:
    compress, decompress = ("zlib.compress", "zlib.decompress") if dotted else (zlib.compress, zlib.decompress)
    async with make(db, compress=compress, decompress=decompress) as store:
        for update in typed(5):
            await store.write(update)
        assert await history(store) == typed(5)
    values = [value for (value,) in sql(db, "SELECT yupdate FROM yupdates")]
    assert [zlib.decompress(value) for value in values] == typed(5)


@pytest.mark.parametrize("compress", [returns_text, "os.fsencode", lambda data: 1 / 0])
async def test_a_compress_that_fails(db: Path, compress: Any) -> None:
    """The update is stored as it is."""
    messages = Messages()
    async with make(db, log=messages.log, compress=compress if compress != "os.fsencode" else returns_text) as store:
        await store.write(typed(1)[0])
        assert await history(store) == typed(1)
    assert "stored uncompressed" in messages.lines[0]


async def test_registering_while_it_runs(db: Path) -> None:
    async with make(db) as store:
        await store.write(typed(1)[0])
        with pytest.raises(TypeError):
            store.register_compression_callbacks(None, zlib.decompress)
        store.register_compression_callbacks(zlib.compress, zlib.decompress)
        for update in typed(3)[1:]:
            await store.write(update)
        assert await history(store) == typed(3)
    assert sql(db, "SELECT substr(yupdate, 1, 1) = x'78' FROM yupdates") == [(0,), (1,), (1,)]
