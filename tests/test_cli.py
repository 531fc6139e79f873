"""The command line: documented answers to good and bad input, exit codes, and a start that loads nothing heavy."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import jsonschema
import pytest

from harness.cli import main
from harness.paths import ROOT
from tests.conftest import BROKEN, TOML

HEAVY = (
    "torch", "tensorflow", "transformers", "datasets", "evaluate", "numpy", "keras", "tf_keras", "rich", "papermill",
)


def call(*args: str) -> int:
    """Exit code of a command, run in this process."""
    with pytest.raises(SystemExit) as ended:
        main(list(args))
    return int(ended.value.code or 0)


def heavy_after(code: str) -> set[str]:
    """Which heavy modules a fresh interpreter has loaded after running `code`."""
    probe = f"import sys\ntry:\n    exec({code!r})\nexcept SystemExit:\n    pass\nprint('@'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(HEAVY) & set(done.stdout.splitlines()[-1].split("@"))


@pytest.mark.parametrize("args", [["list"], ["list", "--json"], ["show", "bug03"], ["doctor"], ["--help"], ["run", "--help"],
                                  ["run", "bug99"]])
def test_start_loads_nothing_heavy(args: list[str]) -> None:
    assert heavy_after(f"from harness.cli import main; main({args!r})") == set()


def test_the_proof_above_can_fail() -> None:
    assert heavy_after("import numpy") == {"numpy"}


def test_list_names_every_specimen(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("list") == 0
    out = capsys.readouterr().out
    assert [line[:5] for line in out.splitlines() if line.startswith("bug")] == [f"bug{n:02d}" for n in range(1, 9)]
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.parametrize("spelling", ["bug03", "3", "03", "BUG03", "bug03_loss_wont_fall"])
def test_a_specimen_has_several_spellings(spelling: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("show", spelling) == 0
    assert capsys.readouterr().out.startswith("bug03:")


def test_show_keeps_the_cause_until_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("show", "bug03") == 0
    assert "Cause" not in capsys.readouterr().out
    assert call("show", "bug03", "--cause") == 0
    assert "Cause (step)" in capsys.readouterr().out
    assert call("show", "bug03", "--json") == 0
    assert "cause" not in json.loads(capsys.readouterr().out)


BAD = [
    (["run", "bug99"], 3, r"no specimen 'bug99'; there are bug77"),
    (["run"], 2, r"name one specimen, or give --all"),
    (["run", "bug77", "--all"], 2, r"name one specimen, or give --all"),
    (["run", "--all", "-p", "seed=1"], 2, r"-p and --device belong to one specimen"),
    (["run", "bug77", "-p", "sede=1"], 2, r"no parameter 'sede'; did you mean seed\?"),
    (["run", "bug77", "-p", "seed"], 2, r"write it as name=value"),
    (["run", "bug77", "-p", "seed=one"], 2, r"seed=one: must be a whole number"),
    (["run", "bug77", "-p", "rate=fast"], 2, r"rate=fast: must be a number"),
    (["run", "bug77", "-p", "rate=nan"], 2, r"rate=nan: out of range, must be from 0 to 1"),
    (["run", "bug77", "-p", "seed=-1"], 2, r"seed=-1: out of range, must be from 0 to 1000"),
    (["run", "bug77", "-p", "mode=dance"], 2, r"mode=dance: must be one of raise, hang"),
    (["run", "bug77", "--framework", "tf"], 2, r"bug77 has no tf script; it has: torch"),
    (["run", "bug77", "--framework", "jax"], 2, r"bug77 has no jax script; it has: torch"),
    (["run", "bug77", "--device", "tpu"], 2, r"cannot use device 'tpu'; it runs on cpu, cuda"),
    (["run", "bug77", "--seeds", "0"], 2, r"0 is not in the range"),
    (["run", "bug77", "--timeout", "0"], 2, r"0.* is not in the range"),
    (["run", "bug77", "--fast"], 2, r"No such option.*--fast"),
    (["fly"], 2, r"no command 'fly'; there are list"),
    (["run", "bug77", "-p", "mode=die"], 4, r"bug77 broken \(torch\) was ended by SIGSEGV at step 0"),
    (["run", "bug77", "-p", "mode=exit"], 4, r"ended with status 3 before it could report"),
    (["run", "bug77", "-p", "mode=hang", "--timeout", "1.5"], 4, r"was ended after 1\.5 s, at step 0; give it more with --timeout 3"),
]


@pytest.mark.parametrize(("args", "code", "message"), BAD, ids=[" ".join(args) or "-" for args, _, _ in BAD])
def test_bad_input_is_one_line_and_a_code(args: list[str], code: int, message: str, small_zoo, capfd: pytest.CaptureFixture[str]) -> None:
    small_zoo()
    assert call(*args) == code
    errors = [line for line in capfd.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert re.search(message, errors[0])


BROKEN_FILES = [
    (TOML.replace('id = "bug77"', 'id = "bug77"\ncolour = "red"'), BROKEN, r"unknown field `colour`"),
    (TOML.replace("format = 1", "format = 2"), BROKEN, r"format 2, but this harness reads format 1"),
    (TOML.replace('id = "bug77"', 'id = "bug76"'), BROKEN, r"id is bug76, but the folder is bug77_small"),
    (TOML.replace('title = "A', 'title = A'), BROKEN, r"not valid TOML"),
    (TOML.replace('time_budget_s = 5', 'time_budget_s = "x"'), BROKEN, r"Expected `float`, got `str` - at `\$.time_budget_s`"),
    (TOML.replace('"broken.py"', '"gone.py"'), BROKEN, r"names gone.py, but .* does not exist"),
    (TOML.replace('message = "small thing"', 'message = "("'), BROKEN, r"is no regular expression"),
    (TOML, BROKEN.replace("seed = 0", "seed = len('x')"), r"broken.py:2: a parameter's default must be"),
    (TOML, BROKEN + "\n)\n", r"broken.py:\d+: not valid Python"),
    (TOML.replace('devices = [', 'requires = ["no-such-package>=3"]\ndevices = ['), BROKEN, r"no-such-package is not installed"),
    (TOML.replace('devices = [', 'requires = ["click<1"]\ndevices = ['), BROKEN, r"needs click<1, but \S+ is installed"),
]


@pytest.mark.parametrize(("toml", "script", "message"), BROKEN_FILES, ids=[message for _, _, message in BROKEN_FILES])
def test_a_specimen_with_a_fault_is_refused_in_one_line(toml: str, script: str, message: str, small_zoo,
                                                        capfd: pytest.CaptureFixture[str]) -> None:
    small_zoo(toml, script)
    assert call("run", "bug77") == 2
    error, = capfd.readouterr().err.splitlines()
    assert re.search(message, error)


def test_a_missing_device_is_refused_before_anything_starts(small_zoo, capfd: pytest.CaptureFixture[str],
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    small_zoo()
    monkeypatch.setattr("harness.runs.availability._torch_has_cuda", lambda: True)
    monkeypatch.setattr("harness.runs.availability.gpus", lambda: 0)
    assert call("run", "bug77", "--device", "cuda") == 2
    assert capfd.readouterr().err.strip() == ("error: bug77: device cuda cannot be used: this machine has no CUDA device "
                                              "(or no driver for it); use --device cpu")


def test_run_streams_the_script_and_proves_the_symptom(small_zoo, capfd: pytest.CaptureFixture[str]) -> None:
    small_zoo()
    assert call("run", "bug77", "-p", "seed=7", "-p", "rate=0.25") == 0
    seen = capfd.readouterr()
    assert "hello from the script, seed 7" in seen.out
    assert "SHOWN" in seen.out
    assert seen.err.rstrip().endswith("ValueError: a small thing broke, rate 0.25")
    assert "harness" not in seen.err
    assert 'line 19, in <module>' in seen.err


def test_a_symptom_that_does_not_show_is_exit_1(small_zoo, capfd: pytest.CaptureFixture[str]) -> None:
    small_zoo()
    assert call("run", "bug77", "-p", "mode=nothing") == 1
    assert "NOT SHOWN" in capfd.readouterr().out


def test_the_json_document_follows_its_schema(small_zoo, capfd: pytest.CaptureFixture[str]) -> None:
    small_zoo()
    assert call("run", "bug77", "--json") == 0
    document = json.loads(capfd.readouterr().out)
    assert call("schema", "run") == 0
    schema = json.loads(capfd.readouterr().out)
    jsonschema.validate(document, schema)
    assert document["exception"]["line"] == 19
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {"wall_s": "long"}, schema)


def test_seeds_run_from_a_warm_parent(small_zoo, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    small_zoo()
    monkeypatch.setitem(__import__("harness.process.warm", fromlist=["x"])._PRELOAD, "torch", ("json",))
    assert call("run", "bug77", "--seeds", "3", "-p", "seed=4", "--json") == 0
    document = json.loads(capfd.readouterr().out)
    assert sorted(run["parameters"]["seed"] for run in document["runs"]) == [4, 5, 6]
    assert document["held"] == document["total"] == 3


def alive(pid: int) -> bool:
    """Whether a process runs (a dead one that nobody has collected does not)."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def gone(pid: int) -> bool:
    """Whether a process is gone within five seconds."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if not alive(pid):
            return True
        os.sched_yield()
    return False


def test_a_timeout_ends_grandchildren_too(small_zoo, capfd: pytest.CaptureFixture[str]) -> None:
    small_zoo()
    assert call("run", "bug77", "-p", "mode=hang", "--timeout", "2") == 4
    pid = int(re.search(r"grandchild (\d+)", capfd.readouterr().out)[1])
    assert gone(pid)


def test_list_shows_the_others_when_one_cannot_be_read(small_zoo, capfd: pytest.CaptureFixture[str]) -> None:
    folder = small_zoo()
    other = folder.parent / "bug78_unreadable"
    other.mkdir()
    (other / "bug.toml").write_text("format = ")
    assert call("list") == 2
    seen = capfd.readouterr()
    assert "bug77  A small thing breaks" in seen.out
    error, = seen.err.splitlines()
    assert re.search(r"error: .*bug78_unreadable.* is not valid TOML", error)


@pytest.mark.parametrize(("number", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated"),
                                                      (signal.SIGHUP, 129, "terminated")])
def test_a_signal_ends_the_child_and_says_so(number: signal.Signals, code: int, said: str, small_zoo) -> None:
    folder = small_zoo()
    program = ("import sys; from pathlib import Path; from harness import paths; from harness.cli import main;"
            f"paths.BUGS = Path({str(folder.parent)!r}); paths.SOLUTIONS = Path({str(folder.parent.parent / 'solutions')!r});"
            "main(['run', 'bug77', '-p', 'mode=hang'])")
    # A shell's background job has SIGINT switched off, and hands that on.
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # noqa: PLW1509 - no thread is running
    pid = next(int(line.split()[1]) for line in process.stdout if line.startswith("grandchild"))
    process.send_signal(number)
    _, error = process.communicate(timeout=20)
    assert process.returncode == code
    assert error.strip().splitlines()[-1] == f"{said}; the child processes were ended"
    assert gone(pid)
