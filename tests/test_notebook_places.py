"""A notebook that is diagnosed: places by cell and line, and the folder it runs in."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat import v4, write

from harness.checks.base import Finding, Result
from harness.checks.tensor_facts import Site
from harness.diagnosis import notebook
from harness.errors import ScriptError


def made(path: Path) -> Path:
    cells = [v4.new_markdown_cell("# Title"), v4.new_code_cell("import os\n!ls\nx = 1"), v4.new_code_cell("%%time\nsleep()"),
             v4.new_code_cell("y = 2\nraise ValueError(y)\n")]
    write(v4.new_notebook(cells=cells), path)
    return path


@pytest.mark.parametrize(("source", "cell", "line"), [("import os", 1, 1), ("x = 1", 1, 3), ("raise ValueError(y)", 3, 2)])
def test_places_are_those_that_jupyter_shows(tmp_path: Path, source: str, cell: int, line: int) -> None:
    text, cells = notebook.as_script(made(tmp_path / "a.ipynb"))
    script = tmp_path / "a.py"
    number = text.splitlines().index(source) + 1
    result = Result(code="A799", stage="setup", title="", state="found",
                    finding=Finding(message="", remedy="", site=Site(file=str(script), line=number, source=source)))
    placed = cells.placed(result, script, "a.ipynb").finding
    assert placed is not None
    assert placed.site is not None
    assert (placed.site.cell, placed.site.line) == (cell, line)
    assert placed.site.where == f"a.ipynb, cell {cell}, line {line}"
    elsewhere = Result(code="A799", stage="setup", title="", state="found",
                       finding=Finding(message="", remedy="", site=Site(file="/other.py", line=1)))
    assert cells.placed(elsewhere, script, "a.ipynb") is elsewhere


@pytest.mark.parametrize(("source", "code"), [
    ("%%time\ntrainer.train()", "pass  # %%time\ntrainer.train()"), ("%%capture out\nx = 1", "pass  # %%capture out\nx = 1"),
    ("%time history = model.fit(x, y)", "history = model.fit(x, y)"), ("%matplotlib inline\nx = 1", "pass  # %matplotlib inline\nx = 1"),
    ("if colab:\n    !pip install torch", "if colab:\n    pass  # !pip install torch"), ("%%bash\nls", None),
    ("%%writefile a.py\nx = 1", None), ('text = """\n%d rows\n"""', 'text = """\n%d rows\n"""')])
def test_magics(tmp_path: Path, source: str, code: str | None) -> None:
    """What is only timed or captured runs; of other magics only those of one line leave the rest of their cell."""
    path = tmp_path / "a.ipynb"
    write(v4.new_notebook(cells=[v4.new_code_cell("import torch"), v4.new_code_cell(source)]), path)
    text, _ = notebook.as_script(path)
    compile(text, "a.py", "exec")
    assert text.rstrip() == "# %%\nimport torch" + ("" if code is None else f"\n\n# %%\n{code}")


def test_what_is_no_notebook(tmp_path: Path) -> None:
    (tmp_path / "x.ipynb").write_text("not json")
    with pytest.raises(ScriptError, match="is no notebook"):
        notebook.as_script(tmp_path / "x.ipynb")


def test_it_runs_where_its_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, own = tmp_path / "project", tmp_path / "notebooks"
    (here / "data").mkdir(parents=True)
    own.mkdir()
    monkeypatch.chdir(here)
    text = 'rows = open("data/rows.csv")\nprint("https://example.org/x and/or words")\n'
    assert notebook.folder_of(own / "a.ipynb", text) == own
    (here / "data" / "rows.csv").write_text("")
    assert notebook.folder_of(own / "a.ipynb", text) == here
    (own / "data").mkdir()
    (own / "data" / "rows.csv").write_text("")
    assert notebook.folder_of(own / "a.ipynb", text) == own
    assert notebook.folder_of(own / "a.ipynb", "x = (\n") == own
