"""`python -m molyneux`."""

import sys

from molyneux.cli import main

if __name__ == "__main__":
    sys.exit(main())
