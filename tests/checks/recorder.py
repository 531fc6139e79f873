"""Real exceptions of real faults: each case is run by the libraries that are installed, and what they raised is recorded.

`python -m tests.checks.recorder FOLDER [GROUP ...]` writes FOLDER/GROUP.json; `tests/checks/recorded` holds those of each library line.
"""

from __future__ import annotations

import json
import linecache
import os
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from harness.frameworks import stages
from tests.checks import cases

_PACKAGES = ("torch", "transformers", "datasets", "evaluate", "tensorflow", "tf_keras", "keras", "numpy", "scikit-learn")
_FILE = "/home/user/train.py"


def raised_by(code: str) -> dict[str, Any]:
    """The facts of the exception that a script raises, as an observer would write them. Raises `AssertionError` where it raises none."""
    linecache.cache[_FILE] = (len(code), None, code.splitlines(keepends=True), _FILE)
    try:
        exec(compile(code, _FILE, "exec"), {"__name__": "__main__", "__file__": _FILE})
    except Exception as error:  # noqa: BLE001 - whatever a library raises is what is wanted
        return facts_of(error)
    raise AssertionError("the case raised nothing")


def facts_of(error: BaseException) -> dict[str, Any]:
    """`ExceptionFacts` as plain values, with library paths that begin at their package and a long message cut."""
    frames = [frame for frame in stages.frames_of(error, error.__traceback__) if not frame.path.endswith("tests/checks/recorder.py")]
    own = [frame for frame in frames if frame.path == _FILE]
    short = [(re.sub(r"^.*/(?:site-packages|lib/python3\.\d+)/", "/lib/", frame.path), frame.line, frame.function) for frame in frames]
    site = {"file": _FILE, "line": own[-1].line, "source": linecache.getline(_FILE, own[-1].line).strip(), "function": own[-1].function}
    return {
        "type": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__[1:-1]],
        "message": _both_ends(_without_places(str(error))),
        "stage": stages.stage_of(error, frames),
        "site": site if own else None,
        "frames": short[:2] + short[-10:] if len(short) > 12 else short,
    }


def _without_places(text: str) -> str:
    """Without the paths of the machine that recorded it."""
    text = re.sub(r"/\S*/(?:site-packages|lib/python3\.\d+)/", "/lib/", text)
    return re.sub(r"/tmp/\w+", "/tmp/x", text).replace(f"{Path.cwd()}/", "/home/user/zoo/")


def _both_ends(text: str, most: int = 3000) -> str:
    return text if len(text) <= most else text[: most // 3] + "\n[...]\n" + text[-2 * most // 3 :]


def main(folder: Path, groups: list[str]) -> None:
    """Record every case of the groups."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    for group in groups:
        prelude, found = cases.GROUPS[group], {}
        for case in cases.CASES:
            if case.group != group:
                continue
            try:
                facts = raised_by(prelude + "\n" + case.code)
            except AssertionError:
                print(f"{group}/{case.name}: raised nothing", file=sys.stderr)
                continue
            found[case.name] = {"code": case.expected, **facts}
        versions = {}
        for package in _PACKAGES:
            try:
                versions[package] = metadata.version(package)
            except metadata.PackageNotFoundError:
                continue
        line = "v" + versions["transformers"].split(".")[0]
        folder.mkdir(exist_ok=True)
        (folder / f"{group}-{line}.json").write_text(json.dumps({"versions": versions, "cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(cases.GROUPS))
