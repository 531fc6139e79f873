import shutil
import tempfile

import numpy as np
from datasets import Dataset, DatasetDict
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

QUEUES = {
    "billing": "invoice charge refund card payment twice price receipt".split(),
    "login": "password reset locked account code email signin token".split(),
    "delivery": "parcel late courier address tracking lost box driver".split(),
    "product": "screen cracked battery noise button charger stopped heat".split(),
    "praise": "thanks great lovely happy quick friendly helped best".split(),
}
GENERAL = ("hello i have the a my and it is was for with you please can today again still since "
           "last week time order shop phone number call team need want got about not").split()
NAMES = list(QUEUES)
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[CLS]"] + sorted({w for ws in QUEUES.values() for w in ws} | set(GENERAL)))}
LENGTH = 24


def write_ticket(rng, label, noise):
    n = int(rng.integers(8, 20))
    words = list(rng.choice(GENERAL, n))
    for _ in range(2):
        words[rng.integers(n)] = rng.choice(QUEUES[NAMES[label]])
    if rng.random() < 0.6:
        words[rng.integers(n)] = rng.choice(QUEUES[NAMES[rng.integers(5)]])
    given = int(rng.integers(5)) if rng.random() < noise else label
    return {"text": " ".join(words), "labels": given}


def tokenize(row):
    ids = [VOCAB["[CLS]"]] + [VOCAB[w] for w in row["text"].split()][:LENGTH - 1]
    pad = LENGTH - len(ids)
    return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad}


def build_data(seed):
    rng = np.random.default_rng(seed)
    # a good share of the old tickets were filed in the wrong queue; the held-out ones were checked by hand
    parts = {"train": (500, 0.3), "val": (400, 0.0), "test": (600, 0.0)}
    return DatasetDict({
        name: Dataset.from_list([write_ticket(rng, int(rng.integers(5)), noise) for _ in range(n)])
        for name, (n, noise) in parts.items()
    }).map(tokenize, remove_columns="text")


def metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def main():
    set_seed(13)
    data = build_data(13)
    model = DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(VOCAB), dim=64, hidden_dim=128, n_layers=2, n_heads=4, max_position_embeddings=LENGTH,
        num_labels=5, dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0))
    out = tempfile.mkdtemp(prefix="tickets_")
    args = TrainingArguments(
        output_dir=out,
        num_train_epochs=25,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=200,
        learning_rate=1e-3,
        lr_scheduler_type="constant",
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,
        save_only_model=True,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        logging_strategy="epoch",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
        seed=13,
    )
    trainer = Trainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["val"],
                      compute_metrics=metrics)
    trainer.train()
    print("kept:", trainer.state.best_model_checkpoint, trainer.state.best_metric)
    res = trainer.evaluate(data["test"], metric_key_prefix="test")
    print({k: round(v, 4) for k, v in res.items() if k in ("test_loss", "test_accuracy")})
    shutil.rmtree(out)


if __name__ == "__main__":
    main()
