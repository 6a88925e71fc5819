"""`python -m tailproof` is `tailproof`."""

from tailproof.verification.cli import main

raise SystemExit(main())
