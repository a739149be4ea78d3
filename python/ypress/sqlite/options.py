"""How one store wants its documents to be kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from .values import Values

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """The options of a store, fixed when it starts.

    Args:
        values: how updates become values.
        squash_after_inactivity_of: seconds without an edit after which the next write squashes the history; or None.
        squash_history_older_than: seconds; older history is squashed; or None.
        squash_no_more_often_than: seconds between two squashes of a document.
        checkpoint_interval: updates between two checkpoints; None or 0 for none.
        pack: whether history moves into segments.
        pack_every: loose rows of a document that start packing.
        pack_idle: seconds without a write after which what is left is packed.
        pack_level: zstd level of segments; None for the default.
    """

    values: Values = field(default_factory=Values)
    squash_after_inactivity_of: float | None = None
    squash_history_older_than: float | None = None
    squash_no_more_often_than: float = 60
    checkpoint_interval: int | None = 100
    pack: bool = False
    pack_every: int = 500
    pack_idle: float = 30.0
    pack_level: int | None = None

    def __post_init__(self) -> None:
        # Found out here: the thread that stores updates would stumble over it again and again, and store nothing.
        for name in ("squash_after_inactivity_of", "squash_history_older_than", "checkpoint_interval"):
            if getattr(self, name) is not None:
                _check_number(name, getattr(self, name))
        for name in ("squash_no_more_often_than", "pack_every", "pack_idle"):
            _check_number(name, getattr(self, name))


def _check_number(name: str, value: object) -> None:
    """Raise TypeError for what is no number, ValueError for NaN."""
    if not isinstance(value, int | float):
        raise TypeError(f"{name} = {value!r}; it is a number, not {type(value).__name__}")
    if value != value:  # noqa: PLR0124 - NaN is the one number that does not equal itself
        raise ValueError(f"{name} = {value!r}; it is a number")
