"""A701, A702 and A799, on observations made by hand; what libraries raise is in test_recorded.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from harness.checks.base import walk
from harness.checks.drift import table
from harness.checks.observation import Observation
from harness.paths import ROOT
from tests.checks.made import check, error, finding, healthy, judge


@pytest.mark.parametrize("code", ["A701", "A702", "A799"])
def test_silent_on_a_healthy_run(code: str) -> None:
    assert judge(code, healthy()) == "clean"


def test_a_function_of_the_users_own() -> None:
    message = "make_model() got an unexpected keyword argument 'width'"
    seen = Observation(exception=error("TypeError", message, "setup", "make_model(width=3)"))
    assert judge("A701", seen) == "clean"
    assert judge("A799", seen) == "found"


def test_the_signature_that_was_observed_suggests() -> None:
    message = "Frob.__init__() got an unexpected keyword argument 'colour'"
    seen = Observation(exception=error("TypeError", message, "setup", "Frob(colour=1)", accepts=["color", "size"]))
    assert "`color=`" in finding("A701", seen).remedy


def test_a_column_is_no_argument() -> None:
    seen = Observation(exception=error("TypeError", "BertModel.forward() got an unexpected keyword argument 'lr'"))
    assert judge("A701", seen) == "clean"


def test_every_new_name_is_told() -> None:
    for row in table()["argument"]:
        call = row["call"].split("|")[0].replace("\\w+(For\\w+", "BertForX").replace("\\w*LR\\w*", "StepLR")
        message = f"{call}.__init__() got an unexpected keyword argument '{row['old']}'"
        found = finding("A701", Observation(exception=error("TypeError", message, "setup")))
        assert row["new"] in found.remedy or row["old"] in found.remedy


def test_checkpoint_by_its_argument() -> None:
    message = "We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files."
    seen = Observation(exception=error("OSError", message, "setup", "from_pretrained(name)",
                                       called_with={"pretrained_model_name_or_path": "roberta-bsae"}))
    assert 'Write `"roberta-base"`' in finding("A702", seen).remedy
    assert seen.exception is not None
    seen.exception.called_with = {"pretrained_model_name_or_path": "roberta-base"}
    assert "not in the local cache" in finding("A702", seen).message


def test_last_resort_waits_for_all_others() -> None:
    seen = Observation(exception=error("ValueError", "You have to specify either input_ids or inputs_embeds"))
    states = {result.code: result.state for result in walk(seen)}
    assert states["D101"] == "found"
    assert states["A799"] == "skipped"


def test_last_resort_quotes() -> None:
    seen = Observation(exception=error("ZeroDivisionError", "division by zero", "loss", "loss = total / count"))
    found = finding("A799", seen)
    assert "while the loss was being computed" in found.message.lower()
    assert "loss = total / count" in " ".join(found.evidence)


def test_last_resort_is_reported_where_the_exception_was_raised() -> None:
    seen = Observation(exception=error("ZeroDivisionError", "division by zero", "evaluation", "print(right / total)"), reached="evaluation")
    last = next(result for result in walk(seen) if result.code == "A799")
    assert (last.state, last.stage) == ("found", "evaluation")


@pytest.mark.parametrize("change", ["exit", "probe", "cut short"])
def test_last_resort_is_silent(change: str) -> None:
    seen = Observation(exception=error("IndexError", "list index out of range", "setup"))
    assert seen.exception is not None
    if change == "exit":
        seen.exception.type = "SystemExit"
    elif change == "probe":
        seen.exception.during = "probe"
    else:
        seen.warnings = ["training was cut short before this exception was raised"]
    assert judge("A799", seen) != "found"


def test_requires_known_codes() -> None:
    for code in ("D102", "D103", "D104", "D105", "D106", "D107", "D108", "B101", "B102", "B103", "F101", "F102", "F103", "F104",
                 "A701", "A799"):
        for other in check(code).requires:
            check(other)


@pytest.mark.slow
def test_what_this_torch_raises_is_what_was_recorded(tmp_path) -> None:
    """The installed PyTorch still says what was recorded, so that the patterns are still right."""
    pytest.importorskip("torch")
    environment = os.environ | {"USE_TF": "0", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    subprocess.run([sys.executable, "-m", "tests.checks.recorder", str(tmp_path), "torch"], check=True, cwd=ROOT, env=environment,
                   capture_output=True, timeout=300)
    from tests.checks.test_recorded import load, observation

    for path in tmp_path.glob("*.json"):
        for name, facts in load(path).items():
            found = {result.code for result in walk(observation(path.stem, facts)) if result.state == "found"}
            assert not facts["code"].startswith(("D", "B", "F1", "A7")) or facts["code"] in found, name


@pytest.mark.parametrize(("owner", "close", "state"), [
    ("torch.optim.sgd.SGD", ["zero_grad"], "found"), ("__main__.Sampler", ["zero_grad"], "clean"), ("torch.Tensor", ["numpy"], "clean"),
    ("torch.optim.sgd.SGD", [], "clean")])
def test_a_name_that_an_object_of_a_library_has_not_quite(owner: str, close: list[str], state: str) -> None:
    message = "'SGD' object has no attribute 'zero_grads'"
    seen = Observation(exception=error("AttributeError", message, "step", owner=owner, close_names=close))
    assert judge("A701", seen) == state
