"""Heteroscedastic readout of a short sensor window with a small encoder, Gaussian likelihood."""
import math
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import BertConfig, BertModel, Trainer, TrainerCallback, TrainingArguments, set_seed

STEPS, CHANNELS = 12, 3


class Windows(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(n, STEPS, CHANNELS)).astype("float32")
        gate = 1 / (1 + np.exp(-2 * self.x[:, -1, 2]))
        self.sigma = 0.02 + 0.15 * gate
        signal = 0.1 * self.x[:, :, 0].sum(1) + 0.3 * self.x[:, -1, 1]
        self.y = (signal + self.sigma * rng.normal(size=n)).astype("float32")

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"window": self.x[i], "reading": self.y[i]}


class Readout(nn.Module):
    def __init__(self):
        super().__init__()
        cfg = BertConfig(
            vocab_size=1, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
            max_position_embeddings=STEPS, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        )
        self.lift = nn.Linear(CHANNELS, cfg.hidden_size)
        self.encoder = BertModel(cfg, add_pooling_layer=False)
        self.head = nn.Linear(cfg.hidden_size, 2)

    def forward(self, window, reading=None):
        h = self.encoder(inputs_embeds=self.lift(window)).last_hidden_state
        mean, log_var = self.head(h[:, -1]).unbind(-1)
        out = {"mean": mean, "log_var": log_var.clamp(-9, 4)}
        if reading is not None:
            nll = 0.5 * (out["log_var"] + (reading - mean) ** 2 * torch.exp(-out["log_var"]))
            out = {"loss": nll.mean(), **out}
        return out


class Printer(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "loss" in logs:
            print(f"step {state.global_step} nll {logs['loss']:.4f}")


def report(p):
    mean, log_var = p.predictions
    y = p.label_ids
    inside = np.abs(y - mean) < 1.96 * np.exp(0.5 * log_var)
    return {"r2": float(1 - ((y - mean) ** 2).mean() / y.var()), "coverage": float(inside.mean())}


def main():
    set_seed(6)
    train, test = Windows(3000, 1), Windows(600, 2)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=7, per_device_train_batch_size=32,
        per_device_eval_batch_size=200, learning_rate=2e-3, warmup_ratio=0.05, lr_scheduler_type="cosine",
        label_names=["reading"], logging_steps=150, save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(
        model=Readout(), args=args, train_dataset=train, eval_dataset=test, compute_metrics=report, callbacks=[Printer()]
    )
    trainer.train()
    res = trainer.evaluate()
    marginal = 0.5 * (math.log(test.y.var()) + 1)
    print(f"test nll {res['eval_loss']:.4f} | constant gaussian {marginal:.4f} | R2 {res['eval_r2']:.3f} | 95% coverage {res['eval_coverage']:.3f}")


if __name__ == "__main__":
    main()
