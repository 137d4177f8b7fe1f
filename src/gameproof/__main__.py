"""``python -m gameproof`` is the command ``gameproof``."""

import sys

try:
    from gameproof.cli.main import main
except KeyboardInterrupt:  # as in `main`, which is not there yet
    print("gameproof: interrupted", file=sys.stderr)
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())
