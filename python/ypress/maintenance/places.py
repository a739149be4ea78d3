"""Places where a store should not lie: in the folder that a server shows, and on a network file system."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["is_shown", "network_file_system"]

_NETWORK = frozenset(
    {
        *("9p", "acfs", "afp", "afpfs", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.gcsfuse", "fuse.glusterfs"),
        *("fuse.rclone", "fuse.s3fs", "fuse.sshfs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "panfs"),
        *("pvfs2", "smb", "smb2", "smb3", "smbfs", "webdav"),
    }
)


def is_shown(file: Path, root: Path, *, allow_hidden: bool = False) -> bool:
    """Whether a server shows a file in its folder listings.

    Args:
        file: the file; it need not exist.
        root: the folder that the server serves.
        allow_hidden: whether the server shows hidden files, too.
    """
    file, root = file.resolve(), root.resolve()
    if not file.is_relative_to(root):
        return False
    return allow_hidden or not any(part.startswith(".") for part in file.relative_to(root).parts)


def network_file_system(file: Path) -> str | None:
    """The kind of the network file system that a file is on; None if it is on none, or that cannot be told.

    Args:
        file: the file; it need not exist.
    """
    place = file.resolve()
    if sys.platform == "win32":
        return _remote_drive(place)
    kind = _kind_of_mount(place)
    return kind if kind in _NETWORK else None


def _remote_drive(place: Path) -> str | None:
    import ctypes

    if place.drive.startswith("\\\\"):
        return "network share"
    windll = getattr(ctypes, "windll", None)
    remote = windll is not None and windll.kernel32.GetDriveTypeW(place.anchor) == 4
    return "network drive" if remote else None


def _kind_of_mount(place: Path) -> str | None:
    """The file system type of the mount that a path is in."""
    best, kind = "", None
    for point, found in _mounts():
        if len(point) >= len(best) and place.is_relative_to(point):
            best, kind = point, found
    return kind


def _mounts() -> list[tuple[str, str]]:
    """(mount point, type) of all mounts."""
    mounts = []
    try:
        for line in Path("/proc/self/mounts").read_text(errors="surrogateescape").splitlines():
            _, point, kind, *_ = line.split(" ")
            mounts.append((point.encode("latin-1", "surrogateescape").decode("unicode_escape"), kind))
    except (OSError, ValueError):
        mounts = _listed_mounts()
    return mounts


def _listed_mounts() -> list[tuple[str, str]]:
    """As `mount` lists them on macOS and BSD: ``device on /point (type, options)``."""
    try:
        listed = subprocess.run(["mount"], capture_output=True, text=True, timeout=5, check=True, env=os.environ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    mounts = []
    for line in listed.splitlines():
        point, _, rest = line.partition(" on ")[2].rpartition(" (")
        if point:
            mounts.append((point, rest.rstrip(")").split(",")[0]))
    return mounts
