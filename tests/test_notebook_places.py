"""A notebook that is diagnosed: places by cell and line, and the folder it runs in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from nbformat import v4, write

from harness.checks.base import Finding, Result
from harness.checks.tensor_facts import Site
from harness.diagnosis import notebook
from harness.errors import ScriptError
from harness.notebooks import stand_in


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
    ("%%time\ntrainer.train()", "# %%time\ntrainer.train()"), ("%%capture out\nx = 1", "# %%capture out\nx = 1"),
    ("%time history = model.fit(x, y)", "history = model.fit(x, y)"),
    ("x = 1\nmodel?", "x = 1\nget_ipython().run_line_magic('pinfo', 'model')"),
    ("if colab:\n    !pip install torch", "if colab:\n    get_ipython().system('pip install torch')"), ("%%bash\nls", None),
    ("files = !ls", "files = get_ipython().getoutput('ls')"), ("%%writefile a.py\nx = 1", None),
    ('text = """\n%d rows\n"""', 'text = """\n%d rows\n"""')])
def test_magics(tmp_path: Path, source: str, code: str | None) -> None:
    """What is only timed or captured runs; of other magics only those of one line leave the rest of their cell."""
    path = tmp_path / "a.ipynb"
    write(v4.new_notebook(cells=[v4.new_code_cell("import torch"), v4.new_code_cell(source)]), path)
    text, _ = notebook.as_script(path)
    given, _, cells = text.partition("\n")
    assert given == "from harness.notebooks.stand_in import display, get_ipython"
    assert cells.rstrip() == "# %%\nimport torch" + ("" if code is None else f"\n\n# %%\n{code}")


def test_lines_that_are_joined_keep_their_number(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    write(v4.new_notebook(cells=[v4.new_code_cell("!pip install a \\\n  b\nx = 1"), v4.new_code_cell("y = 2")]), path)
    text, cells = notebook.as_script(path)
    assert [text.splitlines()[first - 1] for _, first in cells.starts] == ["get_ipython().system('pip install a    b')", "y = 2"]
    assert cells.starts == ((1, 3), (2, 8))


def test_what_jupyter_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    shell = stand_in.get_ipython()
    shell.run_line_magic("matplotlib", "inline")
    shell.run_line_magic("cd", "data")
    shell.system("rm rows.csv")
    assert shell.getoutput("ls") == ["rows.csv"]
    with pytest.raises(OSError, match="absent"):
        shell.run_line_magic("cd", "absent")
    stand_in.display([1], "two")
    assert capsys.readouterr().out == "[1]\ntwo\n"


@pytest.mark.parametrize("name", ["nbformat", "IPython"])
def test_a_library_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = tmp_path / "a.ipynb"
    write(v4.new_notebook(cells=[v4.new_code_cell("!ls")]), path)
    for loaded in [each for each in sys.modules if each.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ScriptError, match=f"needs {name}.*pip install"):
        notebook.as_script(path)


def test_a_cell_that_is_no_python(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    write(v4.new_notebook(cells=[v4.new_code_cell("import torch"), v4.new_code_cell("!ls\nx = 1\ny = = 2")]), path)
    with pytest.raises(ScriptError, match=r"a\.ipynb, cell 2, line 3: not valid Python"):
        notebook.as_script(path)


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
