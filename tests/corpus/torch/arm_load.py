import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

LINKS = np.array([0.5, 0.4, 0.3])
MASSES = np.array([1.2, 0.9, 0.6])


def simulate(n, rng):
    """Joint angles of a planar arm with a payload, and the torque that each joint has to hold."""
    q = rng.uniform(-1.2, 1.2, size=(n, 3))
    payload = rng.uniform(0.0, 1.0, size=n)
    reach = LINKS * np.cos(np.cumsum(q, axis=1))
    torque = np.zeros((n, 3))
    for joint in range(3):
        for link in range(joint, 3):
            torque[:, joint] += MASSES[link] * reach[:, joint:link + 1].sum(1)
        torque[:, joint] += payload * reach[:, joint:].sum(1)
    return np.column_stack([q, payload]), torque


class ArmData(Dataset):
    """Which of the three joints are overloaded."""

    limits = np.array([2.4, 1.2, 0.3])

    def __init__(self, n, seed):
        states, torque = simulate(n, np.random.default_rng(seed))
        self.states = torch.tensor(states).float()
        self.overload = torch.from_numpy(torque > self.limits)

    def __len__(self):
        return len(self.states)

    def __getitem__(self, i):
        return {"state": self.states[i], "labels": self.overload[i]}


class OverloadNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.out = nn.Linear(hidden, 3)
        self.criterion = nn.BCEWithLogitsLoss()

    def forward(self, state, labels=None):
        logits = self.out(self.body(state))
        if labels is None:
            return {"logits": logits}
        return {"loss": self.criterion(logits, labels), "logits": logits}


def compute_metrics(p):
    right = (p.predictions > 0) == (p.label_ids > 0.5)
    return {"per_joint": float(right.mean()), "all_joints": float(right.all(1).mean())}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--hidden", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-3)
    opt = ap.parse_args()
    set_seed(1)
    args = TrainingArguments(output_dir="arm_load_out", num_train_epochs=opt.epochs, learning_rate=opt.lr,
                             per_device_train_batch_size=64, per_device_eval_batch_size=256,
                             eval_strategy="epoch", save_strategy="no", logging_steps=50, report_to="none")
    trainer = Trainer(model=OverloadNet(opt.hidden), args=args, train_dataset=ArmData(4000, 0),
                      eval_dataset=ArmData(800, 1), compute_metrics=compute_metrics)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
