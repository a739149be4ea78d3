"""The server that this process is, if it is one."""

from __future__ import annotations

from jupyter_server.serverapp import ServerApp
from traitlets.config import Config, Configurable, MultipleInstanceError

__all__ = ["collaboration", "running_config"]


def collaboration(server: ServerApp) -> Configurable | None:
    """jupyter-server-ydoc's extension in a server; None where it is not enabled or could not be set up."""
    manager = getattr(server, "extension_manager", None)
    if manager is None:
        return None
    for app in manager.extension_apps.get("jupyter_server_ydoc", ()):
        if isinstance(app, Configurable):
            return app
    return None


def running_config() -> Config | None:
    """The configuration that the running server gives to its stores; None if there is no server."""
    if not ServerApp.initialized():
        return None
    try:
        server = ServerApp.instance()
    except MultipleInstanceError:
        return None
    extension = collaboration(server)
    config: Config = server.config if extension is None else extension.config
    return config
