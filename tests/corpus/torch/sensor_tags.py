"""Tag each reading of a coded machine log as part of a start-up, a shut-down or neither."""
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (ElectraConfig, ElectraForTokenClassification, Trainer,
                          TrainingArguments, set_seed)

LENGTH, CODES, IGNORE = 48, 60, -100
UP, DOWN = [3, 8, 21, 5], [5, 9, 21, 3]


class MachineLog(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = []
        for _ in range(n):
            size = LENGTH if rng.random() < 0.3 else int(rng.integers(24, LENGTH))
            codes = rng.integers(3, CODES, size)
            state = np.zeros(size, dtype=int)
            for start in range(0, size - 8, 8):
                kind = rng.integers(0, 3)
                if kind:
                    at = start + rng.integers(0, 5)
                    codes[at:at + 4] = UP if kind == 1 else DOWN
                    state[at:at + 4] = kind
            audited = rng.random(size) < 0.3
            self.rows.append((codes, np.where(audited, state, IGNORE), f"machine-{_ % 7}"))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        codes, audited, machine = self.rows[i]
        return {"codes": codes, "audited": audited, "machine": machine}


def collate(rows):
    width = max(len(r["codes"]) for r in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    labels = torch.full((len(rows), width), IGNORE)
    for i, r in enumerate(rows):
        ids[i, :len(r["codes"])] = torch.from_numpy(r["codes"])
        labels[i, :len(r["codes"])] = torch.from_numpy(r["audited"])
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels}


def tag_scores(p):
    guess = p.predictions.argmax(-1)
    keep = p.label_ids != IGNORE
    truth, guess = p.label_ids[keep], guess[keep]
    recall = [float((guess[truth == k] == k).mean()) for k in range(3)]
    return {"accuracy": float((truth == guess).mean()), "macro_recall": float(np.mean(recall)),
            "majority": float(np.bincount(truth).max() / len(truth))}


def main():
    set_seed(31)
    train, test = MachineLog(2500, 1), MachineLog(300, 2)
    config = ElectraConfig(vocab_size=CODES, embedding_size=48, hidden_size=64, num_hidden_layers=2,
                           num_attention_heads=4, intermediate_size=128,
                           max_position_embeddings=LENGTH, num_labels=3, pad_token_id=0,
                           hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model = ElectraForTokenClassification(config)
    args = TrainingArguments(output_dir=tempfile.mkdtemp(), remove_unused_columns=False,
                             num_train_epochs=7, learning_rate=2e-3, warmup_steps=60,
                             lr_scheduler_type="cosine", per_device_train_batch_size=32,
                             per_device_eval_batch_size=64, eval_strategy="no", save_strategy="no",
                             logging_steps=80, disable_tqdm=True, report_to="none", seed=31)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                      data_collator=collate, compute_metrics=tag_scores)
    trainer.train()
    m = trainer.evaluate()
    print(f"test accuracy {m['eval_accuracy']:.4f} macro recall {m['eval_macro_recall']:.4f} "
          f"(majority {m['eval_majority']:.4f})")


if __name__ == "__main__":
    main()
