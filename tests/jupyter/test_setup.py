"""`jupyter ypress enable`, `status` and `disable`, and what a real server makes of the configuration."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from server import STOCK, Site

import sessions
from ypress.maintenance.enabling import Level, disable, enable
from ypress.maintenance.places import is_shown, network_file_system

pytest.importorskip("click")
pytest.importorskip("rich")


def ypress(site: Site, *arguments: str, code: int = 0) -> str:
    done = site.run("ypress.cli", *arguments, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def config(site: Site) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((site.config / "jupyter_server_config.json").read_text())
    return content


def test_enable_status_disable(bare: Site) -> None:
    """From nothing to a server that uses it, and back."""
    told = ypress(bare, "status", code=1)
    assert told.count("run `jupyter ypress enable`") == told.count("\n! ") == 1
    assert "zstd" in ypress(bare, "enable", "--user")
    assert config(bare) == {
        "YDocExtension": {"ystore_class": "ypress.jupyter.SQLiteYStore"},
        "SQLiteYStore": {"compression": "zstd"},
    }
    told = ypress(bare, "status")
    assert "ypress.jupyter.SQLiteYStore" in told
    assert str(bare.store) in told
    assert "zstd" in told
    assert "Everything fits together" in told
    with bare.server() as server:
        server.wait_logged("ypress | history is stored in .jupyter_ystore.db (new), zstd")
        server.session(bare.text("a.txt"))
    told = ypress(bare, "disable", "--user")
    assert "its own store class" in told
    assert "ypress restore" in told
    assert config(bare) == {}
    assert not list((bare.config / "jupyter_server_config.d").glob("ypress*"))
    assert "not enabled" in ypress(bare, "disable", "--user")
    with bare.server() as server:
        assert "ypress |" not in server.log


def test_status_tells_what_the_stock_class_would_not_see(bare: Site) -> None:
    sessions.write_stock_store(bare.store, sessions.notebooks(7, documents=1, cells=3))
    ypress(bare, "compress", "--force", str(bare.store))
    told = ypress(bare, "status", code=1)
    assert "run `jupyter ypress restore`" in told
    assert str(bare.store) in told
    assert "100 % of them packed" in told
    ypress(bare, "restore", str(bare.store))
    assert "ypress restore" not in ypress(bare, "status", code=1)


def test_enable_keeps_what_is_there(bare: Site) -> None:
    before = {
        "ServerApp": {"port": 9999},
        "YDocExtension": {"disable_rtc": False, "ystore_class": STOCK},
        "SQLiteYStore": {"db_path": "history.db", "document_ttl": 3600},
    }
    (bare.config / "jupyter_server_config.json").write_text(json.dumps(before))
    told = ypress(bare, "enable", "--user", "--codec", "brotli", "--level", "5")
    assert f"takes the place of {STOCK}, which `jupyter ypress disable` puts back" in told
    assert config(bare)["SQLiteYStore"] == {**before["SQLiteYStore"], "compression": "brotli", "compression_level": 5}
    ypress(bare, "enable", "--user", "--codec", "lz4")
    assert config(bare)["SQLiteYStore"] == {**before["SQLiteYStore"], "compression": "lz4"}
    assert f"will use {STOCK}" in ypress(bare, "disable", "--user")
    assert config(bare) == before


def test_disable_puts_back_what_was_replaced(bare: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(bare.config))
    file = bare.config / "jupyter_server_config.json"
    before = {"YDocExtension": {"ystore_class": "their.Store"}, "SQLiteYStore": {"compression": "theirs"}}
    file.write_text(json.dumps(before))
    assert enable(at="user").replaced == "their.Store"
    assert enable("lz4", at="user").replaced is None  # the first is not taken for what was there
    assert disable("user").left == "their.Store"
    assert config(bare) == before
    # What has been changed in between counts.
    enable(at="user")
    file.write_text(json.dumps({"YDocExtension": {"ystore_class": "another.Store"}}))
    assert disable("user").left == "another.Store"
    assert config(bare) == {"YDocExtension": {"ystore_class": "another.Store"}}
    # What was noted the last time is of no meaning any more.
    file.write_text("{}")
    enable(at="user")
    assert disable("user").left is None
    assert config(bare) == {}


@pytest.mark.parametrize("level", ["sys-prefix", "system", "user"])
def test_each_level_has_its_own_configuration(bare: Site, monkeypatch: pytest.MonkeyPatch, level: Level) -> None:
    folders = {name: bare.folder / name for name in ("sys-prefix", "system", "user")}
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(folders["user"]))
    monkeypatch.setattr("jupyter_core.paths.ENV_CONFIG_PATH", [str(folders["sys-prefix"])])
    monkeypatch.setattr("jupyter_core.paths.SYSTEM_CONFIG_PATH", [str(folders["system"]), "/not/this"])
    written = enable("brotli", 5, level).files
    assert [folder for folder in folders.values() if folder.exists()] == [folders[level]]
    assert [file.relative_to(folders[level]).as_posix() for file in written] == [
        "jupyter_server_config.json",
        "jupyter_server_config.d/ypress.jupyter.json",
    ]
    assert json.loads(written[0].read_text())["SQLiteYStore"] == {"compression": "brotli", "compression_level": 5}
    for other in folders.keys() - {level}:
        assert disable(other).files == ()  # type: ignore[arg-type]
    assert disable(level).files == written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--codec", "zstd", "--level", "99"), "levels -7 to 19"),
        (("--codec", "lz4", "--level", "1"), "lz4 has no levels"),
        (("--codec", "none", "--level", "1"), "no codec"),
    ],
)
def test_enable_refuses_levels_that_there_are_not(bare: Site, arguments: tuple[str, ...], message: str) -> None:
    assert message in ypress(bare, "enable", "--user", *arguments, code=3)
    assert not (bare.config / "jupyter_server_config.json").exists()


def test_enable_leaves_a_broken_configuration_alone(bare: Site) -> None:
    file = bare.config / "jupyter_server_config.json"
    file.write_text("{ not json")
    assert "no JSON" in ypress(bare, "enable", "--user", code=3)
    assert file.read_text() == "{ not json"


def test_a_subclass_of_ones_own_stays(bare: Site) -> None:
    bare.environment["PYTHONPATH"] = str(bare.root)
    (bare.root / "own.py").write_text("import ypress.jupyter\nclass Store(ypress.jupyter.SQLiteYStore): pass\n")
    (bare.config / "jupyter_server_config.json").write_text('{"YDocExtension": {"ystore_class": "own.Store"}}')
    ypress(bare, "enable", "--user")
    assert config(bare)["YDocExtension"]["ystore_class"] == "own.Store"
    assert "own.Store" in ypress(bare, "status")


class TestStatus:
    def test_a_class_that_cannot_be_imported(self, bare: Site) -> None:
        """The server falls back to the stock class; both `status` and the server's log say so."""
        ypress(bare, "enable", "--user")
        content = config(bare)
        content["YDocExtension"]["ystore_class"] = "ypress.jupyter.NoSuchStore"
        (bare.config / "jupyter_server_config.json").write_text(json.dumps(content))
        told = ypress(bare, "status", code=1)
        assert "NoSuchStore" in told
        assert "jupyter_server_ydoc.stores.SQLiteYStore" in told
        with bare.server() as server:
            assert "stores history with jupyter_server_ydoc.stores.SQLiteYStore and not with ypress" in server.log

    def test_a_wrong_option(self, bare: Site) -> None:
        """`status` says which there are, and the server refuses to start with the same words."""
        bare.configure(ystore_class="ypress.jupyter.SQLiteYStore", compression="gzip")
        right = "['zstd', 'lz4', 'brotli'] or None, not the str 'gzip'"
        assert right in ypress(bare, "status", code=1)
        with pytest.raises(AssertionError, match="ended at its start") as ended, bare.server():
            pass
        assert right in str(ended.value)

    def test_a_store_in_sight(self, bare: Site) -> None:
        bare.configure(ystore_class="ypress.jupyter.SQLiteYStore", db_path="history.db")
        assert "lies visibly in the folder" in ypress(bare, "status", code=1)
        assert is_shown(Path("/a/b/c.db"), Path("/a"))
        assert not is_shown(Path("/a/b/.c.db"), Path("/a"))
        assert not is_shown(Path("/a/.b/c.db"), Path("/a"))
        assert is_shown(Path("/a/.b/c.db"), Path("/a"), allow_hidden=True)
        assert not is_shown(Path("/b/c.db"), Path("/a"))

    def test_a_folder_that_is_not_there(self, bare: Site) -> None:
        """`status`, the log of the server's start and the log of the first document name it."""
        place = bare.root / ".mistyped" / "store.db"
        bare.configure(ystore_class="ypress.jupyter.SQLiteYStore", db_path=str(place))
        assert f"the folder {place.parent} of the store is not there" in ypress(bare, "status", code=1)
        with bare.server() as server:
            server.wait_logged(f"history is stored in {place} (new, in a folder that will be made)")
            path = bare.text("a.txt", "a")

            async def look() -> None:
                async with server.open(path):
                    pass

            asyncio.run(look())
            server.wait_logged(f"the folder {place.parent} was not there and has been made")
        assert place.exists()
        assert "Everything fits together" in ypress(bare, "status")

    def test_a_home_folder_that_is_none(self, bare: Site) -> None:
        bare.configure(ystore_class="ypress.jupyter.SQLiteYStore", db_path="~/.store.db")
        assert "~ does not stand for the home folder" in ypress(bare, "status", code=1)

    def test_the_kind_of_file_system(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert network_file_system(tmp_path / "not" / "there.db") is None
        mounts = [("/", "ext4"), (str(tmp_path), "ext4"), (str(tmp_path / "shared"), "nfs4")]
        monkeypatch.setattr("ypress.maintenance.places._mounts", lambda: mounts)
        monkeypatch.setattr("sys.platform", "linux")
        assert network_file_system(tmp_path / "shared" / "deep" / "store.db") == "nfs4"
        assert network_file_system(tmp_path / "shared.db") is None

    def test_a_file_that_is_no_store(self, site: Site) -> None:
        site.store.write_bytes(b"no database" * 1000)
        assert "cannot be read" in ypress(site, "status", code=1)

    def test_records_that_were_moved_aside(self, site: Site) -> None:
        from ypress.sqlite.aside import move_aside
        from ypress.sqlite.schema import create_stock

        with closing(sqlite3.connect(site.store, isolation_level=None)) as connection:
            create_stock(connection, 2)
            connection.execute("INSERT INTO yupdates VALUES ('a', x'0000', x'', 1.0)")
            move_aside(connection, "a", "for the test", 2.0)
        assert "could not be read were moved aside (1 document)" in ypress(site, "status", code=1)

    def test_for_programs(self, site: Site) -> None:
        told = json.loads(ypress(site, "status", "--json"))
        assert told["enabled"] is True
        assert told["codec"] == "zstd"
        assert told["problems"] == []

    def test_jupyter_finds_the_command(self, site: Site) -> None:
        script = Path(sys.executable).parent / "jupyter"
        if not script.exists() or not (script.parent / "jupyter-ypress").exists():
            pytest.skip("the scripts of this environment are elsewhere")
        done = subprocess.run(
            [script, "ypress", "status"],
            cwd=site.root,
            env=site.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "Everything fits together" in done.stdout
