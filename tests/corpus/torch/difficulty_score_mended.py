"""Reading difficulty (0..10) of short word sequences; BERT regression with early stopping."""
import tempfile
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, EarlyStoppingCallback, Trainer,
                          TrainingArguments, set_seed)


@dataclass
class Setup:
    vocab: int = 300
    length: int = 20
    n_train: int = 2000
    n_valid: int = 400
    n_test: int = 400
    epochs: int = 10
    lr: float = 1e-3
    seed: int = 17
    out: str = field(default_factory=tempfile.mkdtemp)


class Passages(Dataset):
    def __init__(self, n, cfg, seed):
        world = np.random.default_rng(99)
        hardness = world.gamma(1.5, 1.0, size=cfg.vocab)
        rng = np.random.default_rng(seed)
        level = rng.uniform(-1, 1, size=n)
        tilt = np.exp(level[:, None] * (hardness - hardness.mean())[None, :])
        tilt /= tilt.sum(1, keepdims=True)
        self.ids = np.stack([rng.choice(np.arange(3, cfg.vocab), size=cfg.length,
                                        p=row[3:] / row[3:].sum()) for row in tilt])
        mean_hard = hardness[self.ids].mean(1)
        self.score = np.clip(2.2 * mean_hard + rng.normal(0, 0.3, n), 0, 10)

    def __len__(self):
        return len(self.score)

    def __getitem__(self, i):
        ids = torch.tensor(np.concatenate([[1], self.ids[i], [2]]))
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids),
                "labels": torch.tensor(self.score[i], dtype=torch.float)}


def regression_metrics(eval_pred):
    pred = eval_pred.predictions.squeeze(-1)
    err = pred - eval_pred.label_ids
    return {"rmse": float(np.sqrt((err ** 2).mean())), "mae": float(np.abs(err).mean())}


def main(cfg=Setup()):
    set_seed(cfg.seed)
    train, valid, test = (Passages(n, cfg, s) for n, s in
                          ((cfg.n_train, 1), (cfg.n_valid, 2), (cfg.n_test, 3)))
    model = BertForSequenceClassification(BertConfig(
        vocab_size=cfg.vocab, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=32, num_labels=1))
    args = TrainingArguments(
        output_dir=cfg.out,
        num_train_epochs=cfg.epochs,
        learning_rate=cfg.lr,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=200,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,
        logging_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model="rmse",
        greater_is_better=False,
        report_to="none",
        seed=cfg.seed,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid,
                      compute_metrics=regression_metrics,
                      callbacks=[EarlyStoppingCallback(early_stopping_patience=3)])
    trainer.train()
    scores = trainer.evaluate(test)
    naive = float(np.std(test.score))
    print(f"best checkpoint metric {trainer.state.best_metric:.4f} after {trainer.state.epoch:.0f} epochs")
    print(f"test rmse {scores['eval_rmse']:.4f} mae {scores['eval_mae']:.4f} (predicting the mean: rmse {naive:.4f})")


if __name__ == "__main__":
    main()
