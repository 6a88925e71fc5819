"""For `pip install -e .`: src/tailproof/{refimpl, bounds, verification} become links to the folders at the top level."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Links(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        if version != "editable":
            return
        for name in ("refimpl", "bounds", "verification"):
            link, target = Path(self.root, "src", "tailproof", name), Path(self.root, name)
            if link.is_symlink() or link.exists():
                continue
            if os.name == "nt":
                import _winapi

                _winapi.CreateJunction(str(target), str(link))  # needs no privilege
            else:
                link.symlink_to(Path("..", "..", name), target_is_directory=True)
