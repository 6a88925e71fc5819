"""Build the site: python docs/build.py [--site DIR] [--atlas].  Every warning, such as a dead link, is an error."""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
from pathlib import Path

os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # a notice of the theme about other software

from mkdocs.commands.build import build
from mkdocs.config import load_config

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "build" / "site", metavar="DIR", help="default: build/site")
    parser.add_argument("--atlas", action="store_true", help="with the atlas of rates, which takes a minute or two")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(arguments.site.resolve()), strict=True)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.atlas:
            from tailproof.verification.bound_checks import draw_atlas

            config.extra["atlas"] = str(Path(folder) / "atlas.html")
            draw_atlas(config.extra["atlas"])
        build(config)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
