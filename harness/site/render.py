"""Executed cells, diagnoses, parameters and messages as Markdown. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from harness.catalog.load import Bug
from harness.catalog.schema import Message
from harness.notebooks.execute import tidy
from harness.report import diagnosis_text
from harness.report.text import diff, kind
from harness.site.curve import svg
from harness.site.executed import Shown
from harness.site.text import Words

NAMES = {"torch": "PyTorch", "tensorflow": "TensorFlow"}
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LONG_OUTPUT, _LONG_ERROR, _LONG_TRACE, _WIDE = 40, 12, 50, 160


def fenced(text: str, language: str, options: str = "") -> str:
    """A fenced block whose fence no line of the text can close."""
    fence = "```"
    while fence in text:
        fence += "`"
    head = f"{fence}{{ .{language} {options}}}" if options else f"{fence}{language}"
    return f"{head}\n{text.rstrip()}\n{fence}"


def indented(text: str, spaces: int = 4) -> str:
    """Text one level deeper, for tabs and folded blocks."""
    return "\n".join(" " * spaces + line if line.strip() else "" for line in text.splitlines())


def folded(kind_: str, title: str, text: str) -> str:
    """A block that is closed until somebody opens it."""
    return f'??? {kind_} "{title}"\n\n{indented(text)}'


def tabs(parts: Sequence[tuple[str, str]]) -> str:
    """One tab for each framework; a single one needs none."""
    if len(parts) == 1:
        return parts[0][1]
    return "\n\n".join(f'=== "{NAMES[name]}"\n\n{indented(text)}' for name, text in parts)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    titles = list(head)
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    return "\n".join(lines + ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows])


def summary(bug: Bug, shown: dict[str, Shown], words: Words) -> str:
    """Frameworks, devices and what it was executed with. The stage is left out: it would give the cause away."""
    said = []
    for framework, done in shown.items():
        devices = ", ".join(bug.script(framework).devices)
        text = words("runs on {devices}; executed here on {date} with {versions}", devices=devices, date=done.broken.report.date,
                     versions=versions(done))
        said.append(f"- **{NAMES[framework]}**: {text}")
    return "\n".join(said)


def versions(done: Shown) -> str:
    """The libraries of an execution that matter, with their versions."""
    names = ("torch", "tensorflow", "tf_keras", "transformers", "datasets", "evaluate")
    skipped = {"torch"} if done.broken.report.framework == "tensorflow" else set()
    found = done.broken.report.versions
    return ", ".join(f"{name} {found[name].partition('+')[0]}" for name in names if found.get(name) and name not in skipped)


def command(bug: Bug, words: Words) -> str:
    """How to run it."""
    lines = [f"python -m harness run {bug.id}", f"python -m harness run {bug.id} --fixed"]
    lines += [f"python -m harness run {bug.id} --framework {name}" for name in bug.frameworks[1:]]
    return fenced("\n".join([*lines, f"python -m harness diagnose {bug.id}"]), "console") + "\n\n" + words(
        "A parameter is given as `-p name=value`, as often as you like.")


def parameters(bug: Bug, words: Words) -> str:
    """Every parameter with its default, range and meaning."""
    defaults = {name: bug.defaults(name, "broken") for name in bug.frameworks}
    rows = []
    for name, parameter in bug.file.parameters.items():
        values = {framework: found[name] for framework, found in defaults.items() if name in found}
        if not values:
            continue
        different = len(set(values.values())) > 1
        shown = ", ".join(f"`{value}` ({NAMES[framework]})" for framework, value in values.items()) if different else (
            f"`{next(iter(values.values()))}`")
        rows.append([f"`{name}`", shown, kind(parameter), words(parameter.help)])
    return table([words("parameter"), words("default"), words("type and range"), words("meaning")], rows)


def notebook(cells: Sequence[Any], words: Words) -> str:
    """A notebook's cells with their outputs; cells after an error were not run and are told so."""
    parts, failed = [], False
    for cell in cells:
        if cell.cell_type != "code":
            continue
        about = cell.metadata.get("zoo", {})
        title = f"[{about['stage']}] {about['title']}" if about.get("stage") else about.get("title") or "parameters"
        given = "parameters" in cell.metadata.get("tags", [])
        source = cell.source.replace("\n", "  # (1)!\n", 1) if given else cell.source
        parts.append(fenced(source, "python", 'title="' + title.replace('"', "'") + '" '))
        if given:
            parts.append("1.  " + words("A parameter is given as `-p name=value`, as often as you like."))
        if failed:
            parts.append("*" + words("not reached") + "*{ .zoo-not-reached }")
            continue
        parts += outputs(cell.get("outputs", []), words)
        failed = any(output.output_type == "error" for output in cell.get("outputs", []))
    return "\n\n".join(parts)


def outputs(found: Sequence[Any], words: Words) -> list[str]:
    """Outputs as blocks. What libraries log to stderr is left to the notebook that can be downloaded."""
    parts = []
    for output in found:
        if output.output_type == "stream" and output.name == "stdout":
            parts.append(fenced(_cut(output.text, _LONG_OUTPUT), "text", ".zoo-output "))
        elif output.output_type == "error":
            message = _cut(_COLOUR.sub("", f"{output.ename}: {output.evalue}"), _LONG_ERROR)
            parts.append(fenced(message, "text", ".zoo-error "))
            trace = _COLOUR.sub("", "\n".join(output.traceback))
            parts.append(folded("note", words("The whole traceback"), fenced(_cut(trace, _LONG_TRACE), "text", ".zoo-output ")))
    return parts


def _cut(text: str, lines: int) -> str:
    """Text of at most so many lines, the middle left out, none of them endless."""
    found = [line if len(line) <= _WIDE else line[:_WIDE] + " ..." for line in text.rstrip("\n").splitlines()]
    if len(found) > lines:
        found = [*found[:lines // 2], "...", *found[-(lines // 2):]]
    return "\n".join(found)


def diagnosis(done: Shown, framework: str) -> str:
    """The command and what the diagnosis printed."""
    bug = done.broken.job.bug
    first = bug.frameworks[0] == framework
    said = f"$ python -m harness diagnose {bug.id}" + ("" if first else f" --framework {framework}")
    return fenced(said + "\n" + tidy(diagnosis_text.render(done.diagnosis)).rstrip(), "text", ".zoo-output ")


def fix(bug: Bug, framework: str, done: Shown, words: Words) -> str:
    """The difference of the two scripts, and what the fixed one printed."""
    code = [cell for cell in done.fixed.notebook.cells if cell.cell_type == "code"]
    said = [part for cell in code for part in outputs(cell.get("outputs", []), words)]
    return "\n\n".join([fenced(diff(bug, framework), "diff"), words("What the fixed script printed:"), *said])


def curve(done: Shown, words: Words) -> str:
    """Broken against fixed."""
    facts = done.fixed.report.facts
    chance, values = facts.get("labels.chance_loss"), facts.get("labels.values")
    return svg(done.broken.report.losses, done.fixed.report.losses, chance if isinstance(chance, float) else None,
               len(values) if isinstance(values, list) else None, words)


def messages(found: Sequence[Message], words: Words) -> str:
    """What each library line says, oldest first."""
    rows = [[NAMES[message.framework], words(message.line), f"`{_cut(message.text, 1)}`" if message.text else words("(says nothing)"),
             words(message.note) if message.note else ""] for message in found]
    return table([words("framework"), words("library line"), words("what it says"), words("note")], rows)
