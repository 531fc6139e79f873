"""Figures of the corpus: right fault, right line, false alarms, and seconds under watch against a plain run.

    python -m tests.corpus.figures                          every folder; table on stdout
    python -m tests.corpus.figures torch --plain             one folder, with plain runs to compare times
    python -m tests.corpus.figures torch/moons keras/...     some scripts
    python -m tests.corpus.figures --output build/corpus.json
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.corpus import judge


def measure(wanted: Sequence[str] = (), *, plain: bool = False, details: Path | None = None) -> list[judge.Answer]:
    """Diagnose the scripts that were asked for (folders or `folder/name`; none: all), printing a row of the table for each."""
    answers = []
    for folder in judge.folders():
        for case in judge.cases(folder):
            if wanted and not {folder.name, case.name} & set(wanted):
                continue
            answer, record = judge.diagnose(case, details=details is not None)
            if details is not None:
                details.mkdir(parents=True, exist_ok=True)
                (details / f"{folder.name}-{case.path.stem}.json").write_text(json.dumps(record))
            if plain:
                answer = dataclasses.replace(answer, plain_s=judge.plain_seconds(case))
            answers.append(answer)
            print(_row(answer), flush=True)
    return answers


def summary(answers: Sequence[judge.Answer]) -> dict[str, Any]:
    """Shares in percent, false alarms by name, and times in seconds; None where there is nothing to take a share of."""
    broken = [answer for answer in answers if not answer.case.healthy]
    healthy = [answer for answer in answers if answer.case.healthy]
    ratios = [answer.watched_s / answer.plain_s for answer in answers if answer.watched_s and answer.plain_s]
    watched = [answer.watched_s for answer in answers if answer.watched_s]
    return {
        "broken": len(broken), "healthy": len(healthy),
        "right_fault_percent": _percent(answer.right for answer in broken),
        "right_line_percent": _percent(answer.right_line for answer in broken),
        "false_alarms": [f"{answer.case.name}: {answer.code}" for answer in healthy if not answer.right],
        "missed": [f"{answer.case.name}: {'/'.join(answer.case.codes)}, said {answer.code or answer.verdict}"
                   for answer in broken if not answer.right],
        "wrong_line": [f"{answer.case.name}: {answer.line}, wanted {list(answer.case.lines)}"
                       for answer in broken if answer.right and not answer.right_line],
        "watched_s_median": round(statistics.median(watched), 2) if watched else None,
        "watched_s_max": round(max(watched), 2) if watched else None,
        "watched_to_plain_median": round(statistics.median(ratios), 2) if ratios else None,
    }


def document(answers: Sequence[judge.Answer]) -> dict[str, Any]:
    """All figures as one JSON document: by folder, and apart those of the scripts that nothing was tuned on."""
    found: dict[str, Any] = {}
    for folder in sorted({answer.case.path.parent.name for answer in answers}):
        own = [answer for answer in answers if answer.case.path.parent.name == folder]
        found[folder] = {"tuned": summary([answer for answer in own if not answer.case.held_out]),
                         "held_out": summary([answer for answer in own if answer.case.held_out]),
                         "scripts": [answer.row() for answer in own]}
    return found


def _percent(found: Any) -> float | None:
    marks = list(found)
    return round(100 * sum(marks) / len(marks), 1) if marks else None


def _row(answer: judge.Answer) -> str:
    case = answer.case
    wanted = "healthy" if case.healthy else f"{'/'.join(case.codes)} @{','.join(map(str, case.lines))}"
    got = f"{answer.code} @{answer.line}" if answer.code else answer.verdict
    good = answer.right and (case.healthy or answer.right_line)
    mark = "ok" if good else "LINE" if answer.right else "ALARM" if case.healthy else "MISS"
    times = f"{answer.watched_s:5.1f} s" if answer.watched_s else "      -"
    if answer.plain_s:
        times += f" / {answer.plain_s:5.1f} s plain"
    more = f" also {','.join(answer.more)}" if answer.more else ""
    return f"{mark:5} {case.name:28} {wanted:22} {got:12} {times}{more}{' (held out)' if case.held_out else ''}"


def main() -> None:
    """Print the table and the shares; write JSON where `--output` says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wanted", nargs="*", help="folders or folder/name")
    parser.add_argument("--output", type=Path, help="write the figures as JSON")
    parser.add_argument("--plain", action="store_true", help="also time each script by itself")
    parser.add_argument("--details", type=Path, help="keep each whole record, observation included, in this folder")
    options = parser.parse_args()
    answers = measure(options.wanted, plain=options.plain, details=options.details)
    found = document(answers)
    for folder, figures in found.items():
        for part in ("tuned", "held_out"):
            if figures[part]["broken"] + figures[part]["healthy"]:
                print(f"\n{folder}, {part.replace('_', ' ')}:")
                print("\n".join(f"  {name}: {value}" for name, value in figures[part].items()))
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
