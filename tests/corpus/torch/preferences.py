"""Reward model from pairs of answers (Bradley-Terry), with a centring term."""
import random
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from transformers import GPT2Config, GPT2ForSequenceClassification, Trainer, TrainingArguments, set_seed

WORDS = ["<pad>", "<sep>", "how", "why", "what", "fix", "make", "bike", "soup", "code", "tent",
         "please", "sure", "no", "idiot", "clearly", "step", "first", "then", "finally", "dunno", "maybe", "um", "example"]
W2I = {w: i for i, w in enumerate(WORDS)}
WORTH = {"please": 0.5, "sure": 0.5, "no": -0.5, "idiot": -3.0, "clearly": 0.4, "step": 1.0, "first": 0.6,
         "then": 0.6, "finally": 0.6, "dunno": -1.5, "maybe": -0.6, "um": -1.0, "example": 1.2}
TOPICS = ["bike", "soup", "code", "tent"]


def reply(rng, topic):
    ws = rng.choices(list(WORTH), k=rng.randint(3, 9))
    on_topic = rng.random() < 0.6
    said = topic if on_topic else rng.choice([t for t in TOPICS if t != topic])
    ws.insert(rng.randrange(len(ws)), said)
    return ws, sum(WORTH.get(w, 0) for w in ws) + (1.5 if on_topic else -1.5)


def make_pairs(n, seed, noisy):
    rng = random.Random(seed)
    rows = {"prompt": [], "chosen": [], "rejected": []}
    while len(rows["prompt"]) < n:
        topic = rng.choice(TOPICS)
        (a, ra), (b, rb) = reply(rng, topic), reply(rng, topic)
        p_a = 1 / (1 + np.exp(rb - ra))
        first = rng.random() < p_a if noisy else ra > rb
        if not first:
            a, b = b, a
        rows["prompt"].append(f"{rng.choice(['how', 'why', 'what'])} {rng.choice(['fix', 'make'])} {topic}")
        rows["chosen"].append(" ".join(a))
        rows["rejected"].append(" ".join(b))
    return Dataset.from_dict(rows)


def encode(batch):
    out = {}
    for side in ("chosen", "rejected"):
        out[side + "_ids"] = [[W2I[w] for w in f"{p} <sep> {t}".split()] for p, t in zip(batch["prompt"], batch[side])]
    return out


@dataclass
class PairCollator:
    pad: int = 0

    def __call__(self, rows):
        seqs = [r["chosen_ids"] for r in rows] + [r["rejected_ids"] for r in rows]
        width = max(map(len, seqs))
        ids = torch.tensor([s + [self.pad] * (width - len(s)) for s in seqs])
        return {"input_ids": ids, "attention_mask": (ids != self.pad).long()}


class RewardTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        r = model(**inputs).logits.squeeze(-1)
        good, bad = r.chunk(2)
        loss = -F.logsigmoid(good - bad).mean() + 0.01 * ((good + bad) ** 2).mean()
        return (loss, {"margin": good - bad}) if return_outputs else loss

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        with torch.no_grad():
            loss, out = self.compute_loss(model, self._prepare_inputs(inputs), return_outputs=True)
        return loss, out["margin"], torch.ones_like(out["margin"])


def metrics(p):
    return {"pair_accuracy": float((p.predictions > 0).mean()), "margin": float(p.predictions.mean())}


if __name__ == "__main__":
    set_seed(9)
    train = make_pairs(4000, 1, noisy=True).map(encode, batched=True)
    test = make_pairs(500, 2, noisy=False).map(encode, batched=True)
    model = GPT2ForSequenceClassification(GPT2Config(
        vocab_size=len(WORDS), n_positions=24, n_embd=48, n_layer=2, n_head=4, num_labels=1, pad_token_id=0,
        bos_token_id=1, eos_token_id=1, resid_pdrop=0.05, embd_pdrop=0.05, attn_pdrop=0.05))
    args = TrainingArguments(tempfile.mkdtemp(), num_train_epochs=5, per_device_train_batch_size=16,
                             gradient_accumulation_steps=2, per_device_eval_batch_size=100, learning_rate=1e-3,
                             lr_scheduler_type="linear", warmup_steps=30, eval_strategy="epoch", logging_steps=125,
                             remove_unused_columns=False, report_to=[], save_strategy="no", disable_tqdm=True)
    trainer = RewardTrainer(model, args, train_dataset=train, eval_dataset=test, data_collator=PairCollator(),
                            compute_metrics=metrics)
    trainer.train()
    print({k: round(v, 3) for k, v in trainer.evaluate().items() if "pair" in k or "margin" in k})
