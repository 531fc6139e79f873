"""Route support tickets to one of six teams with a small BERT trained from scratch."""
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainingArguments,
    get_linear_schedule_with_warmup,
    set_seed,
)

TEAMS = {
    "billing": "invoice charge refund card payment price receipt tax",
    "access": "password login account locked reset email token session",
    "network": "slow timeout connection vpn router latency wifi packet",
    "device": "laptop screen battery keyboard charger broken camera fan",
    "software": "crash install update version license plugin bug error",
    "travel": "flight hotel booking visa ticket airport train expense",
}
FILLER = ("hello team please help me with the my since yesterday it is not working as expected "
          "thanks a lot could you check this today i tried twice but no luck regards").split()
NAMES = list(TEAMS)
WORDS = sorted({w for v in TEAMS.values() for w in v.split()} | set(FILLER) | {"not", "about"})
VOCAB = {w: i + 3 for i, w in enumerate(WORDS)}  # 0 pad, 1 cls, 2 sep
MAX_LEN = 24


def write_ticket(rng):
    """'not about X' mentions another team: it must be read as a negation."""
    label, other = rng.choice(len(NAMES), 2, replace=False)
    own = [rng.choice(TEAMS[NAMES[label]].split())]
    wrong = ["not", "about", rng.choice(TEAMS[NAMES[other]].split())]
    parts = [own, wrong] if rng.random() < 0.5 else [wrong, own]
    words = []
    for part in parts:
        words += list(rng.choice(FILLER, rng.integers(1, 5)))
        words += part
    words += list(rng.choice(FILLER, rng.integers(0, 4)))
    return " ".join(words), int(label)


class Tickets(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = [write_ticket(rng) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        ids = [1] + [VOCAB[w] for w in text.split()][: MAX_LEN - 2] + [2]
        pad = MAX_LEN - len(ids)
        return {
            "input_ids": torch.tensor(ids + [0] * pad),
            "attention_mask": torch.tensor([1] * len(ids) + [0] * pad),
            "labels": torch.tensor(label),
        }


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def main():
    set_seed(7)
    train_ds, eval_ds = Tickets(3200, 1), Tickets(800, 2)
    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(VOCAB) + 3, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=MAX_LEN, num_labels=len(NAMES),
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    ))
    args = TrainingArguments(
        output_dir="out/ticket_routing",
        num_train_epochs=6,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=200,
        eval_strategy="epoch",
        save_strategy="no",
        logging_strategy="epoch",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )

    total_steps = len(train_ds) // args.per_device_train_batch_size
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    scheduler = get_linear_schedule_with_warmup(
        optimizer, num_warmup_steps=30, num_training_steps=total_steps)

    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train_ds,
        eval_dataset=eval_ds,
        compute_metrics=compute_metrics,
        optimizers=(optimizer, scheduler),
    )
    trainer.train()
    majority = np.bincount([y for _, y in eval_ds.rows]).max() / len(eval_ds)
    print(f"majority baseline {majority:.3f}")
    print(f"held-out accuracy {trainer.evaluate()['eval_accuracy']:.3f}")


if __name__ == "__main__":
    main()
