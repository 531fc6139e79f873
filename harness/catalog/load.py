"""Read specimens. `find` reads one folder, `everything` all of them; each problem of a file is one `CatalogError` line."""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from harness import paths, script
from harness.catalog.schema import FORMAT, BugFile, Framework, Script, Value, Variant
from harness.errors import BadParameter, CatalogError, UnknownBug

SHORT_NAMES = {"tf": "tensorflow", "pt": "torch", "pytorch": "torch"}


@dataclass(frozen=True)
class Bug:
    """A specimen: what its `bug.toml` says, and where its files are."""

    file: BugFile
    folder: Path
    solution: Path

    @property
    def id(self) -> str:
        return self.file.id

    @property
    def frameworks(self) -> tuple[Framework, ...]:
        return tuple(entry.framework for entry in self.file.scripts)

    def script(self, framework: str) -> Script:
        """The framework's pair of scripts. Raises `BadParameter` where the specimen has none for it."""
        name = SHORT_NAMES.get(framework, framework)
        for entry in self.file.scripts:
            if entry.framework == name:
                return entry
        raise BadParameter(f"{self.id} has no {framework} script; it has: {', '.join(self.frameworks)}")

    def path(self, framework: str, variant: Variant) -> Path:
        """The script's path. Raises `CatalogError` where the file that `bug.toml` names is missing."""
        entry = self.script(framework)
        path = self.folder / entry.broken if variant == "broken" else self.solution / entry.fixed
        if not path.is_file():
            raise CatalogError(f"{self.folder / 'bug.toml'} names {path.name}, but {path} does not exist; add it or mend the entry")
        return path

    def defaults(self, framework: str, variant: Variant) -> dict[str, Value]:
        """The parameters of one script with their defaults, in its own order."""
        path = self.path(framework, variant)
        return script.defaults(script.read(path), path)


def folders() -> dict[str, Path]:
    """Specimen id -> folder, sorted. A folder under `bugs/` is a specimen when its name starts with `bugNN_`."""
    found = {}
    for path in sorted(paths.BUGS.glob("bug[0-9][0-9]_*")):
        if path.is_dir():
            found[path.name[:5]] = path
    return found


def read(folder: Path) -> Bug:
    """The specimen in a folder. Raises `CatalogError` naming the file and the key at fault."""
    path = folder / "bug.toml"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        file = msgspec.convert(document, BugFile)
    except FileNotFoundError:
        raise CatalogError(f"{path} is missing; every specimen's folder has one (CONTRIBUTING.md shows it)") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"cannot read {path}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{path} is not valid TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise CatalogError(f"{path}: {error}") from None
    if file.format != FORMAT:
        raise CatalogError(f"{path}: format {file.format}, but this harness reads format {FORMAT}; update one of the two")
    if file.id != folder.name[:5]:
        raise CatalogError(f"{path}: id is {file.id}, but the folder is {folder.name}; make them agree")
    _check_patterns(path, file)
    return Bug(file, folder, paths.SOLUTIONS / folder.name)


def _check_patterns(path: Path, file: BugFile) -> None:
    for rule in (*file.evidence, *file.learns):
        for key in rule.when:
            if key not in file.parameters and key not in {"framework", "torch", "transformers", "tensorflow", "numpy", "evaluate"}:
                raise CatalogError(f"{path}: `when` names {key}, which is neither a parameter nor a package")
        if rule.exception:
            try:
                re.compile(rule.exception.message)
            except re.error as error:
                raise CatalogError(f"{path}: the message pattern {rule.exception.message!r} is no regular expression: {error}") from None


@functools.cache
def find(bug: str) -> Bug:
    """The specimen with an id (`bug03`, `3`, or its folder's name). Raises `UnknownBug`, `CatalogError`."""
    known = folders()
    match = re.fullmatch(r"(?:bug)?0*(\d{1,2})(?:_\w+)?", bug.strip().rstrip("/"), re.IGNORECASE)
    key = f"bug{int(match[1]):02d}" if match else bug
    if key not in known:
        raise UnknownBug(f"no specimen {bug!r}; there are {', '.join(known) or 'none'} (python -m harness list)")
    return read(known[key])


def everything() -> list[Bug]:
    """All specimens, by id. Raises `CatalogError` for the first that cannot be read."""
    return [find(key) for key in folders()]
