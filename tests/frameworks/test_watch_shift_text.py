"""Where rows are cut from their second token on, read off a script's text."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import shifts

FAR = "\n" * 9


@pytest.mark.parametrize(("text", "line"), [
    ("ids = read()\nx = ids[:, 1:]\ny = ids[:, 1:]\n", 3),
    ("x = [t[i:i + 8] for i in at]\ny = np.stack([t[i + 1:i + 9] for i in at])\n", 2),
    (f"y = ids[:, 1:]\n{FAR}shown = out[0, 1:]\n", 1),
    (f"first = ids[:, 1:]\n{FAR}shown = out[0, 1:]\n", None),
    ("x, y = ids[:, :-1], ids[:, 0:]\nfiles = sys.argv[1:]\n", None),
    (f"def made(t):\n    return {{'input_ids': t[:, :-1],\n            'labels': t[:, 1:]}}\n{FAR}target = rows[:, 1:]\n", 3),
    (f"shown = {{'text': out[0, 1:]}}\n{FAR}y = ids[:, 1:]\n", 11),
    ("train, test = rows[:4000], rows[4000:]\n", None),
    ("def broken(:\n", None)])
def test_the_line_that_cuts(tmp_path: Path, text: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    assert shifts.written(script) == (None if line is None else (str(script), line, "<module>"))
