"""``python -m penmark``."""

from penmark.cli import main

main()
