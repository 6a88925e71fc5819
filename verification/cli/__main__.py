"""`python -m tailproof.verification.cli` is `tailproof`."""

from tailproof.verification.cli import main

raise SystemExit(main())
