"""``python -m gameproof`` is the command ``gameproof``."""

import sys

from gameproof.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
