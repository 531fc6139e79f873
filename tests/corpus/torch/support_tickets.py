import random
import tempfile

import numpy as np
from datasets import Dataset
from transformers import (
    DistilBertConfig,
    DistilBertForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

TOPICS = {
    "billing": "invoice refund charge card payment receipt".split(),
    "login": "password account reset locked email code".split(),
    "shipping": "parcel courier delay tracking address depot".split(),
}
FILLER = "hello please my the is was not yet i cannot get about since yesterday thanks".split()
LABELS = sorted(TOPICS)
VOCAB = {"[PAD]": 0, "[CLS]": 1, "[UNK]": 2}
for word in FILLER + [w for ws in TOPICS.values() for w in ws]:
    VOCAB.setdefault(word, len(VOCAB))
MAX_LEN = 20


def write_ticket(rng):
    label = rng.randrange(len(LABELS))
    words = rng.choices(FILLER, k=rng.randint(6, 14))
    for w in rng.choices(TOPICS[LABELS[label]], k=3):
        words.insert(rng.randrange(len(words)), w)
    other = rng.choice([l for l in LABELS if l != LABELS[label]])
    words.insert(rng.randrange(len(words)), rng.choice(TOPICS[other]))
    return {"text": " ".join(words), "label": label}


def encode(example):
    ids = [VOCAB["[CLS]"]] + [VOCAB.get(w, 2) for w in example["text"].split()]
    ids = ids[:MAX_LEN]
    pad = MAX_LEN - len(ids)
    return {
        "input_ids": ids + [0] * pad,
        "attention_mask": [1] * len(ids) + [0] * pad,
    }


def build_split(n, seed):
    rng = random.Random(seed)
    ds = Dataset.from_list([write_ticket(rng) for _ in range(n)])
    return ds.map(encode, remove_columns=["text"])


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float((np.argmax(logits, axis=-1) == labels).mean())}


def main():
    set_seed(21)
    train, test = build_split(1200, 1), build_split(300, 2)
    config = DistilBertConfig(
        vocab_size=len(VOCAB), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
        max_position_embeddings=MAX_LEN, num_labels=len(LABELS),
    )
    model = DistilBertForSequenceClassification(config)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=5,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        learning_rate=1e-3,
        evaluation_strategy="epoch",
        save_strategy="no",
        logging_steps=50,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train,
        eval_dataset=test,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    result = trainer.evaluate()
    print(f"test loss {result['eval_loss']:.4f} accuracy {result['eval_accuracy']:.4f}")


if __name__ == "__main__":
    main()
