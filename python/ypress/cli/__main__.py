"""``python -m ypress.cli``."""

from . import main

main()
