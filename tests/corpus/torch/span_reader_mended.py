import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
from transformers import Trainer, TrainingArguments, set_seed

set_seed(21)
rng = np.random.default_rng(21)
KINDS = "who whom whose where whence when what which why how how_many how_long".split()
ENTITIES = {k: [f"{k}_{i}" for i in range(12)] for k in KINDS}
SUFFIX = [f"suffix_{i}" for i in range(6)]
FILLER = [f"f{i}" for i in range(40)]
WORDS = KINDS + FILLER + SUFFIX + sum(ENTITIES.values(), [])
VOCAB = {w: i for i, w in enumerate(WORDS)}
CONTEXT = 24


def make_example(kind):
    words = list(rng.choice(FILLER, size=CONTEXT))
    others = rng.choice([k for k in KINDS if k != kind], size=4, replace=False)
    slots = rng.permutation(np.arange(0, CONTEXT - 2, 3))
    for k, s in zip([kind, *others], slots):
        words[s] = rng.choice(ENTITIES[k])
        n_tail = rng.integers(0, 3)
        for j in range(n_tail):
            words[s + 1 + j] = rng.choice(SUFFIX)
        if k == kind:
            start, end = s, s + n_tail
    return {"question": VOCAB[kind], "context": [VOCAB[w] for w in words],
            "start_positions": int(start), "end_positions": int(end)}


def make_split(per_kind):
    return [make_example(kind) for kind in KINDS for _ in range(per_kind)]


def collate(batch):
    return {k: torch.tensor([b[k] for b in batch]) for k in batch[0]}


def span_loss(start_logits, end_logits, start, end, spread=0.1):
    ce = F.cross_entropy(start_logits, start) + F.cross_entropy(end_logits, end)
    pos = torch.arange(start_logits.shape[1], dtype=torch.float)
    exp_start = (start_logits.softmax(-1) * pos).sum(-1)
    exp_end = (end_logits.softmax(-1) * pos).sum(-1)
    width = F.smooth_l1_loss(exp_end - exp_start, (end - start).float())
    return ce / 2 + spread * width


class SpanReader(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embed = nn.Embedding(len(VOCAB), width)
        self.rnn = nn.GRU(2 * width, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, 2)

    def forward(self, question, context):
        q = self.embed(question)[:, None].expand(-1, context.shape[1], -1)
        c = self.embed(context)
        h, _ = self.rnn(torch.cat([c, q], dim=-1))
        start_logits, end_logits = self.out(h).unbind(-1)
        return {"start_logits": start_logits, "end_logits": end_logits}


class SpanTrainer(Trainer):
    def get_train_dataloader(self):
        return DataLoader(self.train_dataset, batch_size=self.args.train_batch_size,
                          collate_fn=collate, drop_last=True, shuffle=True)

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        start, end = inputs["start_positions"], inputs["end_positions"]
        out = model(question=inputs["question"], context=inputs["context"])
        loss = span_loss(out["start_logits"], out["end_logits"], start, end)
        return (loss, {"loss": loss, **out}) if return_outputs else loss


def exact_match(p):
    (start_logits, end_logits), (start, end) = p.predictions[:2], p.label_ids
    hit = (start_logits.argmax(-1) == start) & (end_logits.argmax(-1) == end)
    return {"em": float(hit.mean())}


train_data, dev_data = make_split(300), make_split(40)
args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=3, per_device_train_batch_size=32,
                         learning_rate=4e-3, warmup_ratio=0.1, lr_scheduler_type="constant_with_warmup",
                         logging_steps=75, save_strategy="no", report_to="none", use_cpu=True,
                         disable_tqdm=True, remove_unused_columns=False,
                         label_names=["start_positions", "end_positions"], seed=21)
trainer = SpanTrainer(model=SpanReader(), args=args, train_dataset=train_data,
                      eval_dataset=dev_data, data_collator=collate, compute_metrics=exact_match)
trainer.train()
scores = trainer.evaluate()
print(f"dev loss {scores['eval_loss']:.3f}  exact match {scores['eval_em']:.3f}")
for i, kind in enumerate(KINDS):
    part = trainer.evaluate(dev_data[i * 40:(i + 1) * 40])
    print(f"  {kind:9s} exact match {part['eval_em']:.3f}")
