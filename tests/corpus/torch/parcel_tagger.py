import numpy as np
import torch
from datasets import Dataset
from torch import nn
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed

set_seed(31)
rng = np.random.default_rng(31)

STREETS = ["oak", "mill", "church", "station", "garden", "bridge", "king", "queen"]
KINDS = ["street", "lane", "road", "way"]
TOWNS = ["ashby", "corley", "denham", "elton", "farley", "gosport"]
FILLER = ["please", "send", "the", "parcel", "to", "my", "flat", "near", "old", "by", "friday", "thanks", "oak", "king", "mill"]
TAGS = ["O", "STREET", "TOWN", "NUMBER"]
words = sorted(set(STREETS + KINDS + TOWNS + FILLER))
vocab = {w: i + 3 for i, w in enumerate(words)}       # 0 pad, 1 unknown, 2 digits


def sentence():
    toks, tags = [], []
    def fill(k):
        for w in rng.choice(FILLER, k):
            toks.append(str(w)); tags.append(0)
    fill(rng.integers(5, 16))
    if rng.random() < 0.6:
        toks.append(str(rng.integers(1, 99))); tags.append(3)
        toks.append(str(rng.choice(STREETS))); tags.append(1)
        toks.append(str(rng.choice(KINDS))); tags.append(1)
    fill(rng.integers(3, 10))
    if rng.random() < 0.4:
        toks.append("to"); tags.append(0)
        name = str(rng.choice(TOWNS)) if rng.random() < 0.8 else "town" + str(rng.integers(1000)) + "x"
        toks.append(name); tags.append(2)
    fill(rng.integers(0, 4))
    return {"tokens": toks, "tags": tags}


def encode(row):
    ids = [2 if t.isdigit() else vocab.get(t, 1) for t in row["tokens"]]
    return {"input_ids": ids, "labels": row["tags"]}


def make(n):
    return Dataset.from_list([sentence() for _ in range(n)]).map(encode, remove_columns=["tokens", "tags"])


def collate(rows):
    m = max(len(r["input_ids"]) for r in rows)
    pad = lambda k, v: torch.tensor([r[k] + [v] * (m - len(r[k])) for r in rows])
    mask = torch.tensor([[1] * len(r["input_ids"]) + [0] * (m - len(r["input_ids"])) for r in rows])
    return {"input_ids": pad("input_ids", 0), "attention_mask": mask, "labels": pad("labels", -100)}


class WeighedTrainer(Trainer):
    """Nine tokens in ten are O: square-root weights; own optimizer with a quick head and a one-cycle schedule."""
    weights = None

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        loss = nn.functional.cross_entropy(out.logits.flatten(0, 1), inputs["labels"].flatten(), weight=self.weights,
                                           ignore_index=-100)
        if self.model.training and num_items_in_batch is not None:
            loss = loss / self.args.gradient_accumulation_steps
        return (loss, out) if return_outputs else loss

    def create_optimizer(self):
        head = [p for n, p in self.model.named_parameters() if n.startswith("classifier") and p.requires_grad]
        body = [p for n, p in self.model.named_parameters() if not n.startswith("classifier") and p.requires_grad]
        self.optimizer = torch.optim.AdamW([{"params": body, "lr": 2e-3}, {"params": head, "lr": 6e-3}], weight_decay=0.01)
        return self.optimizer

    def create_scheduler(self, num_training_steps, optimizer=None):
        self.lr_scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, max_lr=[2e-3, 6e-3],
                                                                total_steps=num_training_steps + 1, pct_start=0.25)
        return self.lr_scheduler


def metrics(p):
    pred, gold = p.predictions.argmax(-1), p.label_ids
    keep = gold != -100
    pred, gold = pred[keep], gold[keep]
    res = {}
    for k in (1, 2, 3):
        tp = ((pred == k) & (gold == k)).sum()
        res["f1_" + TAGS[k].lower()] = float(2 * tp / max(1, (pred == k).sum() + (gold == k).sum()))
    res["macro_f1"] = float(np.mean(list(res.values())))
    return res


train, dev = make(2400), make(500)
freq = np.bincount(np.concatenate(train["labels"]), minlength=4)
print("tag counts", dict(zip(TAGS, freq.tolist())))
w = np.sqrt(freq.sum() / freq)
WeighedTrainer.weights = torch.tensor(w / w.mean(), dtype=torch.float32)

model = BertForTokenClassification(BertConfig(vocab_size=len(vocab) + 3, hidden_size=48, num_hidden_layers=2,
                                              num_attention_heads=4, intermediate_size=96, max_position_embeddings=48,
                                              num_labels=len(TAGS), hidden_dropout_prob=0.05))
# only one segment is ever used, and its table stays as it is
model.bert.embeddings.token_type_embeddings.requires_grad_(False)
args = TrainingArguments(output_dir="out", max_steps=300, per_device_train_batch_size=16,
                         gradient_accumulation_steps=2, gradient_checkpointing=True,
                         gradient_checkpointing_kwargs={"use_reentrant": False}, per_device_eval_batch_size=250,
                         eval_strategy="steps", eval_steps=60, logging_steps=30, save_strategy="no", report_to=[],
                         use_cpu=True, disable_tqdm=True, seed=31)
trainer = WeighedTrainer(model=model, args=args, train_dataset=train, eval_dataset=dev, data_collator=collate,
                         compute_metrics=metrics)
trainer.train()
print({k: round(v, 3) for k, v in trainer.evaluate().items() if "f1" in k})
