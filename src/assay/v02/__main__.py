"""``python -m assay`` is the command ``assay``."""

from __future__ import annotations

import sys

from assay.v02.cli import main

if __name__ == "__main__":
    sys.exit(main())
