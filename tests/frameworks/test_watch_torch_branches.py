"""PyTorch under watch: branches that nobody reads, frozen heads that are not asked, masks that get lost, inputs of a large scale."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.data_labels import still_guessing
from tests.frameworks.watching import HEAD, LOOP, found, watch

pytest.importorskip("torch")


BRANCH = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.aside, self.b = nn.Linear(10, 32), nn.Linear(32, 4), nn.Linear(32, 2)
    def forward(self, x):
        h = torch.relu(self.a(x))
        self.kept = self.aside(h)
        return self.b(HIDDEN)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
"""


@pytest.mark.parametrize(("hidden", "wrong"), [("h", False), ("h.detach()", True)])
def test_a_branch_that_nobody_reads(hidden: str, wrong: bool, tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + BRANCH.replace("HIDDEN", hidden) + LOOP)
    assert seen.probes.unreached_matter is wrong
    assert ("G302" in found(seen)) is wrong


PHASES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.mean, self.spread = nn.Linear(10, 32), nn.Linear(32, 2), nn.Linear(32, 2)
    def forward(self, x):
        h = torch.relu(self.a(x))
        return self.mean(h), self.spread(h)
model = Net()
model.spread.requires_grad_(False)
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for epoch in range(4):
    for xb, yb in train:
        mean, spread = model(xb)
        loss = F.cross_entropy(ASKED, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("asked", "wrong"), [("mean", False), ("spread", True)])
def test_a_frozen_head(asked: str, wrong: bool, tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + PHASES.replace("ASKED", asked))
    assert ("G303" in found(seen)) is wrong


SENSORS = """
scale = torch.tensor([4e5, 2e-2, 1.0, 3.0])
label = torch.randint(0, 2, (400,))
X = (torch.randn(400, 12, 4) + 2.0 * label[:, None, None] * torch.tensor([0.0, 1.0, 0.0, 0.0])) * scale + torch.tensor([4e5, 0, 0, 0])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.out = nn.GRU(4, 24, batch_first=True), nn.Linear(24, 2)
    def forward(self, x):
        return self.out(self.gru(x)[1][0])
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
train = DataLoader(TensorDataset(X[:320], label[:320]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(X[320:], label[320:]), batch_size=40)
"""


def test_features_of_a_sequence_that_drown(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + SENSORS + LOOP, probe_seconds=6.0)
    assert "F104" not in found(seen)
    assert found(seen)[:1] == ["D108"], (seen.probes.skipped, seen.probes.train, seen.probes.train_standardised)


PROMPTS = """
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
words = {word: number for number, word in enumerate(["<eos>", *"abcdefgh"])}
core = Tokenizer(models.WordLevel(words, unk_token="<eos>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<eos>", eos_token="<eos>", padding_side="left")
lm = GPT2LMHeadModel(GPT2Config(vocab_size=9, n_positions=32, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0))
encoded = tokenizer(PROMPT, padding=True, return_tensors="pt")
lm.generate(GIVEN, max_new_tokens=2, pad_token_id=0)
"""


@pytest.mark.parametrize(("prompt", "given", "wrong"), [
    ('["a b c d", "e"]', 'encoded["input_ids"]', True), ('["a b c d", "e"]', "**encoded", False),
    ('["a b", "e f"]', 'encoded["input_ids"]', False)])
def test_padded_prompts(prompt: str, given: str, wrong: bool, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, HEAD + LOOP + PROMPTS.replace("PROMPT", prompt).replace("GIVEN", given))
    assert (seen.generated is not None) is wrong, seen.warnings
    assert ("B102" in found(seen)) is wrong


INNER = """
from transformers import BertConfig, BertModel
ids = torch.zeros(320, 12, dtype=torch.long)
for row in range(320):
    ids[row, :12 - row % 5] = torch.randint(1, 20, (12 - row % 5,))
IDS
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = BertModel(BertConfig(vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16))
        self.out = nn.Linear(16, 2)
    def forward(self, x):
        return self.out(self.bert(input_ids=x, attention_mask=MASK).pooler_output)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
train = DataLoader(TensorDataset(ids, (ids[:, 0] > 9).long()), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(ids, (ids[:, 0] > 9).long()), batch_size=40)
"""


@pytest.mark.parametrize(("words", "mask", "wrong"), [
    ("", "torch.ones_like(x)", True), ("", "(x != 0).long()", False), ("ids[:, 3] = 0", "torch.ones_like(x)", False)])
def test_a_mask_that_covers_the_padding(words: str, mask: str, wrong: bool, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, HEAD + INNER.replace("IDS", words).replace("MASK", mask) + LOOP)
    assert ("B102" in found(seen)) is wrong


BAGS = """
texts = [[int(word) for word in torch.randint(1, 40, (6,))] + [0] for _ in range(400)]
topic = torch.tensor([int(sum(text) > 120) for text in texts])
def collate(rows):
    ids = [texts[row] for row, _ in rows]
    return torch.tensor(sum(ids, [])), torch.arange(len(ids)) * 7, torch.stack([label for _, label in rows])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag, self.out = nn.EmbeddingBag(40, 16), nn.Linear(16, 2)
    def forward(self, ids, offsets):
        return self.out(self.bag(ids, offsets))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for ids, offsets, labels in DataLoader([(row, topic[row]) for row in range(400)], batch_size=16, shuffle=True, collate_fn=collate):
        loss = F.cross_entropy(model(ids, offsets), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_texts_in_one_row_that_all_end_alike(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + BAGS)
    assert seen.probes.input_matters is True
    assert found(seen) == []


BACKWARD_IN_EVALUATION = """
for epoch in range(4):
    model.train()
    for xb, yb in train:
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    for xb, yb in test:
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        STEP
    optimizer.zero_grad()
"""


@pytest.mark.parametrize(("step", "wrong"), [("", False), ("optimizer.step()", True)])
def test_a_loss_that_goes_backward_in_an_evaluation(step: str, wrong: bool, tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + BACKWARD_IN_EVALUATION.replace("STEP", step), steps=60)
    assert (seen.evaluation.training_in_eval_mode > 0) is wrong
    assert ("E503" in found(seen)) is wrong


CONTRASTIVE = """
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 16))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for xb, _ in train:
        both = torch.cat([xb + 0.1 * torch.randn_like(xb), xb + 0.1 * torch.randn_like(xb)])
        z = F.normalize(model(both), dim=1)
        logits = (z @ z.T)[~torch.eye(len(z), dtype=torch.bool)].view(len(z), -1) / 0.5
        wanted = torch.cat([torch.arange(16) + 15, torch.arange(16)])
        loss = F.cross_entropy(logits, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_rows_that_are_compared_with_each_other_on_purpose(tmp_path: Path) -> None:
    assert "F105" not in found(watch(tmp_path, HEAD + CONTRASTIVE))


WEIGHED = HEAD + """
class Weighed(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_variance = nn.Parameter(torch.zeros(()))
    def forward(self, scores, labels):
        return F.cross_entropy(scores, labels) * torch.exp(-self.log_variance) + self.log_variance
model = nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
criterion = Weighed()
optimizer = torch.optim.Adam([*model.parameters(), *criterion.parameters()], lr=1e-2)
for epoch in range(4):
    for loader in (train, test):
        LEARNER.train(loader is train)
        with torch.set_grad_enabled(loader is train):
            for xb, yb in loader:
                optimizer.zero_grad()
                loss = criterion(model(xb), yb)
                if loader is train:
                    loss.backward()
                    optimizer.step()
"""


@pytest.mark.parametrize(("learner", "fault"), [("model", False), ("criterion", True)])
def test_a_loss_with_weights_has_no_mode(tmp_path: Path, learner: str, *, fault: bool) -> None:
    seen = watch(tmp_path, WEIGHED.replace("LEARNER", learner))
    assert seen.evaluation.forwards
    assert (found(seen) == ["E502"]) is fault, found(seen)


DRAWN = HEAD + """
energy = nn.Sequential(nn.Linear(10, 32), nn.SiLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(energy.parameters(), lr=1e-3)
def draw(points):
    for weight in energy.parameters():
        weight.requires_grad = False
    points.requires_grad = True
    for _ in range(5):
        energy(points).sum().backward()
        points.data.add_(-0.05 * points.grad.data)
        points.grad.zero_()
    for weight in energy.parameters():
        weight.requires_grad = True
    return points.detach()
for epoch in range(2):
    for xb, _ in train:
        fake = draw(torch.randn(len(xb), 10))
        real, drawn = energy(torch.cat([2 + xb, fake])).chunk(2)
        loss = real.mean() - drawn.mean() + 0.1 * (real ** 2 + drawn ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def test_what_goes_backward_to_inputs_only_is_no_training(tmp_path: Path) -> None:
    seen = watch(tmp_path, DRAWN)
    assert len(seen.steps) >= 20
    assert {step.backwards for step in seen.steps} == {1}
    assert all(step.loss is not None and abs(step.loss) < 5 for step in seen.steps)
    assert found(seen) == []


PARTS = HEAD.replace("        return self.b(", "        return self.answer(x)\n    def answer(self, x):\n        return self.b(") + """
for epoch in range(6):
    MODE
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    model.eval()
    right = sum((model.answer(X[320:]).argmax(1) == y[320:]).sum().item() for _ in range(3))
"""


@pytest.mark.parametrize(("mode", "fault"), [("model.train()", False), ("pass", True)])
def test_an_evaluation_that_calls_parts_of_the_model(tmp_path: Path, mode: str, *, fault: bool) -> None:
    seen = watch(tmp_path, PARTS.replace("MODE", mode), steps=60)
    assert seen.evaluation.forwards
    assert (found(seen) == ["E503"]) is fault, (found(seen), seen.evaluation)


FROZEN = HEAD + """
body = nn.Sequential(nn.Linear(10, 16), nn.Dropout(0.1), nn.ReLU()).requires_grad_(False).eval()
head = nn.Linear(16, 2)
optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
for epoch in range(2):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(head(body(xb)), yb).backward()
        optimizer.step()
    with torch.no_grad():
        right = sum((head(body(xb)).argmax(1) == yb).sum().item() for xb, yb in test)
"""


def test_a_frozen_body_is_no_evaluation(tmp_path: Path) -> None:
    seen = watch(tmp_path, FROZEN, steps=40)
    assert 0 < seen.evaluation.forwards <= 8
    assert seen.evaluation.with_gradients == 0
    assert found(seen) == []


def test_a_memory_that_is_filled_before_training(tmp_path: Path) -> None:
    text = HEAD + "answers = [model(X[row:row + 1]).argmax().item() for row in range(400)]\n" + LOOP
    seen = watch(tmp_path, text, onward_seconds=20.0, seconds=60)
    assert len(seen.steps) == 24
    assert found(seen) == []


ASKED = """
import random, torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import DistilBertConfig, DistilBertForSequenceClassification, PreTrainedTokenizerFast
torch.manual_seed(0)
draw = random.Random(0)
core = Tokenizer(models.WordLevel({word: number for number, word in enumerate(["<pad>", *"abcdefgh"])}, unk_token="<pad>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>")
labels = [number % 2 for number in range(400)]
texts = [" ".join(draw.choices("abcd" if label else "defgh", k=draw.randint(3, 8))) for label in labels]
model = DistilBertForSequenceClassification(DistilBertConfig(vocab_size=9, dim=32, hidden_dim=64, n_layers=1, n_heads=2))
optimizer = torch.optim.Adam(model.parameters(), 3e-3)
def encode(rows):
    return tokenizer(rows, padding=True, return_tensors="pt", return_token_type_ids=False)
for epoch in range(2):
    model.train()
    for first in range(0, 320, 16):
        encoded = encode(texts[first:first + 16])
        optimizer.zero_grad()
        model(**encoded, labels=torch.tensor(labels[first:first + 16])).loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    encoded = encode(texts[320:])
    answers = model(GIVEN).logits.argmax(-1)
"""


@pytest.mark.parametrize(("given", "fault"), [('encoded["input_ids"]', True), ("**encoded", False)])
def test_a_model_that_was_trained_with_masks_and_is_asked_without(tmp_path: Path, given: str, *, fault: bool) -> None:
    pytest.importorskip("transformers")
    seen = watch(tmp_path, ASKED.replace("GIVEN", given), steps=40)
    assert seen.exception is None
    assert (found(seen) == ["B102"]) is fault, (found(seen), seen.warnings)


BOTH = HEAD + """
other = Net()
optimizer = torch.optim.Adam([*model.parameters(), *other.parameters()], lr=1e-6)
for epoch in range(4):
    for xb, yb in train:
        optimizer.zero_grad()
        (F.cross_entropy(model(xb), yb) + F.cross_entropy(other(xb), 1 - yb)).backward()
        optimizer.step()
"""


def test_what_a_guess_costs_by_several_losses_is_not_known(tmp_path: Path) -> None:
    assert still_guessing(watch(tmp_path, BOTH, steps=60)) is None
    assert still_guessing(watch(tmp_path, BOTH.replace(" + F.cross_entropy(other(xb), 1 - yb)", ""), steps=60)) is not None


FUNCTIONAL = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank, self.unused, self.out = nn.Linear(8, 16), nn.Linear(8, 16), nn.Linear(16, 2)
    def forward(self, x):
        made = F.linear(x, 2 * self.bank.weight, self.bank.bias)
        return self.out(torch.relu(CALL))
model = Net()
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
x = torch.randn(640, 8)
y = (x[:, 0] > 0).long()
for epoch in range(3):
    for rows in torch.randperm(640).split(16):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("call", "codes"), [("made", []), ("torch.from_numpy(made.detach().numpy())", ["G302"])])
def test_weights_of_a_layer_that_is_never_called(call: str, codes: list[str], tmp_path: Path) -> None:
    assert found(watch(tmp_path, FUNCTIONAL.replace("CALL", call), steps=30)) == codes
