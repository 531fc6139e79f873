"""Route helpdesk tickets to one of six queues with a small DistilBERT trained from scratch."""
import random
import tempfile

import numpy as np
import torch
from transformers import (
    DistilBertConfig,
    DistilBertForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

QUEUES = {
    "billing": "invoice refund charge card payment receipt price tax".split(),
    "network": "wifi router vpn packet latency cable port dns".split(),
    "hardware": "laptop screen battery keyboard fan dock mouse charger".split(),
    "accounts": "password login locked reset token username profile badge".split(),
    "software": "install crash update version licence plugin driver patch".split(),
    "facilities": "chair desk heating window lamp door lift kitchen".split(),
}
FILLER = "please the my is not working since monday help with a we need it again today and still for our team".split()
NAMES = list(QUEUES)
VOCAB = ["[PAD]", "[CLS]", "[UNK]"] + sorted({w for ws in QUEUES.values() for w in ws} | set(FILLER))
W2I = {w: i for i, w in enumerate(VOCAB)}
MAX_LEN = 24


def make_ticket(rng):
    label = rng.randrange(len(NAMES))
    words = [rng.choice(FILLER) for _ in range(rng.randint(8, 15))]
    for _ in range(rng.randint(2, 4)):
        words.insert(rng.randrange(len(words)), rng.choice(QUEUES[NAMES[label]]))
    if rng.random() < 0.4:
        other = rng.choice(NAMES)
        words.insert(rng.randrange(len(words)), rng.choice(QUEUES[other]))
    return " ".join(words), label


class Tickets(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = [make_ticket(rng) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        ids = [W2I["[CLS]"]] + [W2I.get(w, 2) for w in text.split()]
        ids = ids[:MAX_LEN]
        mask = [1] * len(ids) + [0] * (MAX_LEN - len(ids))
        ids = ids + [0] * (MAX_LEN - len(ids))
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": torch.tensor(label)}


def compute_metrics(p):
    preds = np.argmax(p.predictions, axis=-1)
    return {"error_rate": float((preds != p.label_ids).mean())}


def main():
    set_seed(11)
    train, valid, test = Tickets(2000, 1), Tickets(400, 2), Tickets(600, 3)
    config = DistilBertConfig(
        vocab_size=len(VOCAB), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
        max_position_embeddings=MAX_LEN, num_labels=len(NAMES), dropout=0.1,
    )
    model = DistilBertForSequenceClassification(config)
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out,
            num_train_epochs=7,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=128,
            learning_rate=4e-4,
            warmup_ratio=0.1,
            weight_decay=0.01,
            eval_strategy="epoch",
            save_strategy="epoch",
            save_total_limit=2,
            load_best_model_at_end=True,
            metric_for_best_model="error_rate",
            logging_steps=50,
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
        )
        trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid, compute_metrics=compute_metrics)
        trainer.train()
        result = trainer.evaluate(test, metric_key_prefix="test")
    print("test accuracy: %.3f  test loss: %.3f" % (1 - result["test_error_rate"], result["test_loss"]))


if __name__ == "__main__":
    main()
