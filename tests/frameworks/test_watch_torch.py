"""What the watcher makes of plain PyTorch loops."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import HEAD, LOOP, watch

pytest.importorskip("torch")


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


def test_a_healthy_loop_is_described_whole(tmp_path: Path) -> None:
    text = HEAD + LOOP
    seen = watch(tmp_path, text)
    assert (seen.framework, seen.task, seen.classes, seen.device) == ("torch", "classification", 2, "cpu")
    assert seen.warnings == []
    assert seen.model is not None
    assert seen.optimizer is not None
    assert (seen.model.kind, seen.model.final_units, seen.model.stochastic, seen.model.pretrained) == ("Net", 2, True, False)
    assert [weight.name for weight in seen.model.parameters] == ["a.weight", "a.bias", "b.weight", "b.bias"]
    assert all(weight.gradient_norm and weight.moved and weight.in_optimizer and weight.used for weight in seen.model.parameters)
    assert (seen.optimizer.kind, seen.optimizer.learning_rate, seen.optimizer.held, seen.optimizer.foreign) == ("Adam", 0.01, 4, 0)
    for name, part in (("model", "model = Net()"), ("optimizer", "optimizer = "), ("loss", "F.cross"), ("backward", ".backward()"),
                       ("step", ".step()"), ("zero_grad", "zero_grad"), ("evaluation", "right = ")):
        assert seen.sites[name].line == line_of(text, part), name
    training, evaluation = seen.loaders
    assert (training.role, training.shuffled, training.rows, training.batch_size) == ("train", True, 320, 16)
    assert (evaluation.role, evaluation.shuffled, evaluation.same_as_train) == ("eval", False, False)
    assert sum(training.label_counts.values()) == 320
    assert [batch.columns["0"].shape for batch in seen.batches[:2]] == [(16, 10), (16, 10)]
    assert seen.batches[0].labels is not None
    call = seen.loss_calls[0]
    assert (call.name, call.reduction, call.softmaxed_in_model) == ("cross_entropy", "mean", False)
    assert len(call.row_losses) == len(call.row_labels) == 16
    assert len(seen.steps) == 24
    assert seen.steps[1].gradients_before == 0.0
    assert seen.steps[1].gradient_norm
    assert seen.evaluation.forwards == 2
    assert (seen.evaluation.in_training_mode, seen.evaluation.training_in_eval_mode) == (0, 0)
    metric = seen.evaluation.metrics[0]
    assert sum(metric.predicted_counts.values()) == sum(metric.reference_counts.values()) == 80
    probes = seen.probes
    assert probes.initial_loss == pytest.approx(0.69, abs=0.1)
    assert (probes.repeat_differs, probes.input_matters) == (False, True)
    assert probes.overfit is not None
    assert probes.train is not None
    assert probes.overfit.losses[-1] < 0.2 * probes.overfit.losses[0]
    assert probes.overfit.accuracy == 1.0
    assert probes.train.losses[-1] < 0.5 * probes.train.losses[0]
    assert probes.skipped["train_scaled"] == "the script's own rate learns"
    assert probes.train.final_loss is None, "beyond doubt, nothing is measured once more"
    assert probes.text_baseline > 0.75
    assert probes.text_baseline_shuffled < 0.65


@pytest.mark.parametrize(("change", "expect"), [
    (("optimizer.zero_grad()", "pass"), lambda s: s.steps[3].gradients_before > 0),
    (("model.eval()", "pass"), lambda s: s.evaluation.in_training_mode == 2),
    (("model.train()", "model.eval()"), lambda s: s.evaluation.training_in_eval_mode == s.evaluation.training_forwards),
    (("optimizer.step()", "pass"), lambda s: not s.steps and s.backward_without_step > 20),
    (("loss.backward()", "pass"), lambda s: s.forward_without_backward >= 8 and s.loss_calls and all(not x.backwards for x in s.steps)),
    (("self.a(x))", "self.a(x)).detach()"), lambda s: s.model.parameters[0].gradient_norm is None and "detach" in s.sites["cut"].source),
    (("Net()\n", "Net()\nother = Net()\n"), lambda s: s.optimizer.foreign == 0),
    (("Adam(model", "Adam(Net()"), lambda s: (s.optimizer.held, s.optimizer.foreign) == (0, 4)),
    (("F.cross_entropy(out, yb)", "F.cross_entropy(out.softmax(1), yb)"), lambda s: s.loss_calls[0].softmaxed_in_model),
    (("loss.backward()", "(loss / 2).backward(retain_graph=True); (loss / 2).backward()"), lambda s: s.steps[2].backwards == 2),
    (("loss.backward()", "total = loss if total is None else total + loss; loss.backward()"), lambda s: s.memory.losses_kept > 15),
    (("        optimizer.step()", "        optimizer.step(); kept.append(loss)"), lambda s: s.memory.losses_kept > 15),
    (("F.cross_entropy(out, yb)", "F.cross_entropy(out, yb) + 500 * F.mse_loss(out[:, 0], yb.float())"),
     lambda s: {t["name"] for t in s.loss_terms} == {"cross_entropy", "mse"} and all(t["gradient_norm"] for t in s.loss_terms[:2])),
])
def test_one_change_is_seen(tmp_path: Path, change: tuple[str, str], expect: object) -> None:
    text = "kept, total = [], None\n" + HEAD + LOOP
    assert change[0] in text
    seen = watch(tmp_path, text.replace(*change))
    assert not [line for line in seen.warnings if "watching failed" in line]
    assert expect(seen)  # type: ignore[operator]


def test_a_weight_that_no_module_knows(tmp_path: Path) -> None:
    text = (HEAD + LOOP).replace("self.drop = nn.Dropout(0.1)", "self.drop = nn.Dropout(0.1); self.more = [nn.Linear(32, 32)]")
    seen = watch(tmp_path, text.replace("torch.relu(self.a(x))", "self.more[0](torch.relu(self.a(x)))"))
    assert seen.model is not None
    assert [name.partition(" ")[0] for name in seen.model.unregistered] == ["Linear.weight", "Linear.bias"]


def test_where_a_nan_is_born(tmp_path: Path) -> None:
    plain = "return self.b(self.drop(torch.relu(self.a(x))))"
    text = (HEAD + LOOP).replace(plain, plain.replace("return", "h =") + "\n        return torch.log(h)")
    seen = watch(tmp_path, text)
    birth = seen.births[0]
    assert (birth.step, birth.what) == (1, "activation")
    assert "log" in birth.name
    assert birth.site is not None
    assert birth.site.line == line_of(text, "torch.log(h)")
    assert birth.rows
    assert len(birth.row_labels) == len(birth.rows)


def test_where_a_gradient_is_born(tmp_path: Path) -> None:
    text = (HEAD + LOOP).replace("F.cross_entropy(out, yb)", "F.cross_entropy(out, yb) + torch.sqrt((out * 0).sum())")
    birth = watch(tmp_path, text).births[0]
    assert (birth.step, birth.what) == (1, "gradient")
    assert "Sqrt" in birth.name
    assert birth.site is not None
    assert birth.site.line == line_of(text, "torch.sqrt")


def test_a_shape_that_does_not_fit_names_the_layer(tmp_path: Path) -> None:
    seen = watch(tmp_path, (HEAD + LOOP).replace("nn.Linear(32, 2)", "nn.Linear(31, 2)"))
    assert seen.exception is not None
    assert (seen.exception.stage, seen.exception.module) == ("forward", "b: Linear(in_features=31, out_features=2, bias=True)")
    assert [fact.shape for fact in seen.exception.module_inputs] == [(16, 32)]
    assert not any("/harness/" in frame[0] for frame in seen.exception.frames)


def test_a_loss_that_raises_has_been_described(tmp_path: Path) -> None:
    seen = watch(tmp_path, (HEAD + LOOP).replace("F.cross_entropy(out, yb)", "F.cross_entropy(out, yb + 1)"))
    assert seen.exception is not None
    assert (seen.exception.type, seen.exception.stage) == ("IndexError", "loss")
    target = seen.loss_calls[0].target
    assert target is not None
    assert target.maximum == 2


def test_a_rate_too_low_is_told_from_one_too_high(tmp_path: Path) -> None:
    low = watch(tmp_path, (HEAD + LOOP).replace("Adam(model.parameters(), lr=1e-2)", "SGD(model.parameters(), lr=1e-7)"), probe_seconds=20)
    assert low.probes.overfit is not None
    assert any(curve.losses[-1] < 0.5 * curve.losses[0] for curve in low.probes.overfit_scaled)
    assert min(curve.learning_rate for curve in low.probes.train_scaled) > 1e-7
    high = watch(tmp_path, (HEAD + LOOP).replace("Adam(model.parameters(), lr=1e-2)", "SGD(model.parameters(), lr=500.)"), probe_seconds=20)
    assert high.probes.overfit is not None
    assert high.probes.overfit.losses[-1] != high.probes.overfit.losses[-1] or high.probes.overfit.losses[-1] > 1
    assert any(curve.losses[-1] < 0.1 and curve.learning_rate < 500 for curve in high.probes.overfit_scaled)


GAN = """
import torch, torch.nn as nn
torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
og, od = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
for i in range(40):
    real, fake = torch.randn(16, 2) + 1, G(torch.randn(16, 4))
    od.zero_grad()
    (bce(D(real), torch.ones(16, 1)) + bce(D(fake.detach()), torch.zeros(16, 1))).backward()
    od.step()
    og.zero_grad()
    bce(D(fake), torch.ones(16, 1)).backward()
    og.step()
"""


def test_two_models_that_take_turns_are_not_fitted(tmp_path: Path) -> None:
    seen = watch(tmp_path, GAN)
    assert seen.models_stepped == 2
    assert seen.probes.skipped["overfit"] == "several optimizers take turns"
    assert all(step.gradients_before == 0 for step in seen.steps[1:])
    assert seen.warnings == []


BARE = """
import torch
torch.manual_seed(0)
X = torch.randn(200, 3)
y = X @ torch.tensor([1.0, -2.0, 0.5])
w = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for step in range(60):
    loss = ((X @ w - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_bare_tensors_are_replayed_too(tmp_path: Path) -> None:
    seen = watch(tmp_path, BARE)
    assert (seen.task, seen.loss_calls[0].name, seen.loss_calls[0].reduction) == ("regression", "mse", "mean")
    assert seen.probes.overfit is not None
    assert seen.probes.overfit.losses[-1] < 0.1 * seen.probes.overfit.losses[0]


def test_inside_an_optimizer_step_nothing_is_recorded_and_it_counts_once(tmp_path: Path) -> None:
    own = """
class Own(torch.optim.SGD):
    def step(self, closure=None):
        assert torch.overrides._get_current_function_mode() is None
        return super().step(closure)
"""
    text = (HEAD + LOOP).replace("optimizer = torch.optim.Adam(", own + "optimizer = Own(")
    assert "= Own(" in text
    seen = watch(tmp_path, text)
    assert seen.exception is None
    assert len(seen.steps) == 24
    assert {step.backwards for step in seen.steps} == {1}


def test_training_is_cut_short_but_evaluation_is_not(tmp_path: Path) -> None:
    text = HEAD + LOOP.replace("range(4)", "range(1)") + "\nassert right > 0\nprint(right)\n"
    seen = watch(tmp_path, text, steps=10)
    assert (seen.truncated_at, seen.stopped, len(seen.steps)) == (10, "finished", 10)
    assert sum(seen.evaluation.metrics[0].reference_counts.values()) == 80


def test_a_script_that_catches_exceptions_is_ended_all_the_same(tmp_path: Path) -> None:
    body = LOOP.replace("        loss.backward()", "        try: loss.backward()\n        except Exception: pass")
    text = HEAD + body.replace("range(4)", "range(10**6)").replace("        optimizer.step()", """        try: optimizer.step()
        except Exception: pass""")
    seen = watch(tmp_path, text, steps=30, seconds=20)
    assert seen.stopped == "enough steps"
    assert seen.exception is None


def test_a_mistake_of_the_watching_does_not_reach_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.frameworks.watch.torch_loss import Losses

    monkeypatch.setattr(Losses, "_begin", lambda *_args: 1 / 0)
    seen = watch(tmp_path, HEAD + LOOP)
    assert len(seen.steps) == 24
    assert any("ZeroDivisionError" in line for line in seen.warnings)


def test_what_a_shortened_training_saves_does_not_replace_a_file(tmp_path: Path) -> None:
    whole = tmp_path / "best.pt"
    whole.write_bytes(b"a whole training's weights")
    save = f"torch.save(model.state_dict(), {str(whole)!r}); model.load_state_dict(torch.load({str(whole)!r}))\n"
    seen = watch(tmp_path, HEAD + LOOP.replace("range(4)", "range(1)") + save)
    assert seen.exception is None
    assert whole.read_bytes() == b"a whole training's weights"
