"""Family of a synthetic peptide from its sequence (RoBERTa-like encoder trained from scratch)."""
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from transformers import (
    EarlyStoppingCallback,
    RobertaConfig,
    RobertaForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

AMINO = "ACDEFGHIKLMNPQRSTVWY"
MOTIFS = ["WCH", "KDE", "GPG", "RYF"]
STOI = {c: i + 4 for i, c in enumerate(AMINO)}


@dataclass
class Settings:
    n_train: int = 1200
    n_test: int = 300
    hidden: int = 48
    layers: int = 2
    epochs: int = 6
    batch_size: int = 32
    lr: float = 5e-2
    warmup_steps: int = 20


def sample_sequence(rng, family):
    seq = list(rng.choice(list(AMINO), size=rng.integers(14, 22)))
    for _ in range(2):
        pos = rng.integers(0, len(seq) - 3)
        seq[pos : pos + 3] = MOTIFS[family]
    return "".join(seq)


class PeptideSet(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.y = rng.integers(0, len(MOTIFS), n)
        self.seqs = [sample_sequence(rng, f) for f in self.y]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"ids": [0] + [STOI[c] for c in self.seqs[i]] + [2], "label": int(self.y[i])}


def collate(items):
    width = max(len(it["ids"]) for it in items)
    ids = torch.full((len(items), width), 1, dtype=torch.long)
    for row, it in zip(ids, items):
        row[: len(it["ids"])] = torch.tensor(it["ids"])
    return {
        "input_ids": ids,
        "attention_mask": (ids != 1).long(),
        "labels": torch.tensor([it["label"] for it in items]),
    }


def metrics(p):
    pred = p.predictions.argmax(-1)
    return {"accuracy": float((pred == p.label_ids).mean()), "classes_predicted": len(set(pred.tolist()))}


def main():
    s = Settings()
    set_seed(1)
    model = RobertaForSequenceClassification(
        RobertaConfig(
            vocab_size=24, hidden_size=s.hidden, num_hidden_layers=s.layers, num_attention_heads=4,
            intermediate_size=2 * s.hidden, max_position_embeddings=40, num_labels=len(MOTIFS),
            pad_token_id=1,
        )
    )
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=s.epochs, learning_rate=s.lr,
        warmup_steps=s.warmup_steps, per_device_train_batch_size=s.batch_size,
        per_device_eval_batch_size=100, eval_strategy="epoch", save_strategy="epoch",
        save_total_limit=1, load_best_model_at_end=True, metric_for_best_model="accuracy",
        logging_steps=50, remove_unused_columns=False, report_to="none", use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=PeptideSet(s.n_train, 1),
        eval_dataset=PeptideSet(s.n_test, 2), data_collator=collate, compute_metrics=metrics,
        callbacks=[EarlyStoppingCallback(early_stopping_patience=5)],
    )
    trainer.train()
    r = trainer.evaluate()
    print(f"loss {r['eval_loss']:.4f} accuracy {r['eval_accuracy']:.4f} classes predicted {r['eval_classes_predicted']}")


if __name__ == "__main__":
    main()
