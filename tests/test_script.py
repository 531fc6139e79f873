"""Percent cells and parameters: papermill's rule, true line numbers."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from harness import script
from harness.errors import ScriptError

TEXT = '''"""Doc."""
# %% tags=["parameters"]
rate = 5e-5  # per step
name = "x"

# %% [data] rows
rows = [rate, name]
# %% [training] it
raise RuntimeError(rate)
'''


def test_cells_have_stage_title_and_tags() -> None:
    first, second, third = script.cells(TEXT)
    assert (first.first_line, first.last_line, first.tags) == (2, 5, ("parameters",))
    assert (second.stage, second.title) == ("data", "rows")
    assert (third.stage, third.last_line) == ("training", 9)


def test_values_count_and_lines_stay() -> None:
    scope: dict[str, object] = {}
    with pytest.raises(RuntimeError) as raised:
        exec(script.compile_with(TEXT, "x.py", {"rate": 0.5}), scope)
    assert scope["rows"] == [0.5, "x"]
    assert traceback.extract_tb(raised.value.__traceback__)[-1].lineno == 9


def test_papermill_reads_the_same_parameters_and_values() -> None:
    from papermill.translators import PythonTranslator

    cell = script.parameters_cell(TEXT)
    source = "\n".join(TEXT.splitlines()[cell.first_line - 1:cell.last_line])
    assert [parameter.name for parameter in PythonTranslator.inspect({"source": source})] == list(script.defaults(TEXT, "x.py"))
    scope: dict[str, object] = {}
    exec(PythonTranslator.codify({"rate": 0.5, "name": "y", "flag": True}), scope)
    assert {key: scope[key] for key in ("rate", "name", "flag")} == {"rate": 0.5, "name": "y", "flag": True}


@pytest.mark.parametrize(("text", "message"), [
    ("x = 1\n", "no cell tagged parameters"),
    ("x = (\n", r"x.py:1: not valid Python"),
])
def test_a_script_that_takes_no_parameters_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        script.compile_with(text, "x.py", {"rate": 1.0})


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ScriptError, match="is not UTF-8"):
        script.read(tmp_path / "x.py")
    with pytest.raises(ScriptError, match="No such file"):
        script.read(tmp_path / "gone.py")
