"""The program ``penmark``, and ``python -m penmark``: a Ctrl-C is answered in a line, also while the program is loaded."""

import sys


def main() -> None:
    """Load the command line and run it."""
    try:
        from penmark.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("stopped; nothing was changed\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
