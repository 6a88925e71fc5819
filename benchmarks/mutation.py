"""Random edits of the algorithms, and what `verify` and the unit tests say of them."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from mutating.tracing import sample

from tailproof.verification.check import implemented


def main() -> int:
    for entry in implemented():
        for edit in sample(entry.id):
            print(json.dumps({key: value for key, value in asdict(edit).items() if key not in ("start", "end")}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
