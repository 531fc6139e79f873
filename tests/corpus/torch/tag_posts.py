"""Multi-label tagging of forum posts; most tags are rare."""
import random
import tempfile

import numpy as np
import torch
from sklearn.metrics import f1_score
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

TAGS = {
    "python": ["pip", "venv", "numpy", "lambda"],
    "sql": ["join", "select", "index", "query"],
    "css": ["flex", "margin", "grid", "hover"],
    "git": ["rebase", "commit", "merge", "branch"],
    "docker": ["image", "compose", "volume", "container"],
    "regex": ["capture", "greedy", "lookahead", "pattern"],
}
PLAIN = "how do i use this with my when it fails why does the get error code want to".split()
WORDS = {w: i + 2 for i, w in enumerate(sorted(set(PLAIN + sum(TAGS.values(), []))))}
RATE = 0.12


def make_post(rng):
    y = [float(rng.random() < RATE) for _ in TAGS]
    words = rng.choices(PLAIN, k=rng.randint(5, 12))
    for flag, vocab in zip(y, TAGS.values()):
        if flag:
            words.insert(rng.randrange(len(words)), rng.choice(vocab))
    return words, y


class Posts(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = sorted((make_post(rng) for _ in range(n)), key=lambda r: len(r[0]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, y = self.rows[i]
        return {"input_ids": [1] + [WORDS[w] for w in words], "labels": y}


def collate(batch):
    n = max(len(b["input_ids"]) for b in batch)
    ids = torch.tensor([b["input_ids"] + [0] * (n - len(b["input_ids"])) for b in batch])
    return {
        "input_ids": ids,
        "attention_mask": ids.ne(0).long(),
        "labels": torch.tensor([b["labels"] for b in batch]),
    }


def compute_metrics(p):
    pred = p.predictions > 0
    gold = p.label_ids > 0.5
    return {
        "micro_f1": f1_score(gold, pred, average="micro"),
        "exact": float((pred == gold).all(1).mean()),
        "exact_if_none": float((~gold).all(1).mean()),
    }


def main():
    set_seed(6)
    config = BertConfig(
        vocab_size=len(WORDS) + 2, hidden_size=48, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=32, num_labels=len(TAGS),
        problem_type="multi_label_classification",
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.bias.fill_(float(np.log(RATE / (1 - RATE))))
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=8, learning_rate=2e-3,
        per_device_train_batch_size=32, per_device_eval_batch_size=128, eval_strategy="epoch",
        save_strategy="no", logging_steps=50, report_to="none", use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=Posts(1500, 1), eval_dataset=Posts(400, 2),
        data_collator=collate, compute_metrics=compute_metrics,
    )
    trainer.train()
    r = trainer.evaluate()
    print({k: round(r[k], 4) for k in ("eval_loss", "eval_micro_f1", "eval_exact", "eval_exact_if_none")})


if __name__ == "__main__":
    main()
