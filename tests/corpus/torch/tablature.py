"""Chord classifier for guitar tablature clips (chroma vectors), trained with accelerate."""
import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CHORDS = {"C": (0, 4, 7), "Dm": (2, 5, 9), "Em": (4, 7, 11), "F": (5, 9, 0), "G": (7, 11, 2), "Am": (9, 0, 4), "E7": (4, 8, 11, 2)}
config = {"lr": 3e-3, "epochs": 8, "batch_size": 64, "eval_batch_size": 8, "seed": 21}


def clips(n, seed):
    rng = np.random.default_rng(seed)
    names = list(CHORDS)
    y = rng.integers(0, len(names), n)
    x = np.zeros((n, 4, 12), dtype=np.float32)
    for i, c in enumerate(y):
        tones = list(CHORDS[names[c]])
        for frame in range(4):
            played = rng.choice(tones, size=2, replace=False)
            x[i, frame, played] = rng.uniform(0.5, 1.0, 2)
    x += rng.normal(0, 0.2, x.shape).astype(np.float32)
    return TensorDataset(torch.from_numpy(x.reshape(n, 48)), torch.from_numpy(y))


def build_model():
    return nn.Sequential(
        nn.Linear(48, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(96, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(96, len(CHORDS)),
    )


@torch.no_grad()
def validate(accelerator, model, loader):
    right = seen = 0
    for x, y in loader:
        pred, y = accelerator.gather_for_metrics((model(x).argmax(-1), y))
        right += (pred == y).sum().item()
        seen += len(y)
    return right / seen


def main():
    set_seed(config["seed"])
    accelerator = Accelerator(cpu=True)
    train_dl = DataLoader(clips(3000, 1), batch_size=config["batch_size"], shuffle=True, drop_last=True)
    eval_dl = DataLoader(clips(600, 2), batch_size=config["eval_batch_size"])
    model = build_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"], weight_decay=0.01)
    model, optimizer, train_dl, eval_dl = accelerator.prepare(model, optimizer, train_dl, eval_dl)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer.optimizer, config["lr"], epochs=config["epochs"], steps_per_epoch=len(train_dl))

    for epoch in range(config["epochs"]):
        model.train()
        running = 0.0
        for x, y in train_dl:
            loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.02)
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            running += loss.item()
        acc = validate(accelerator, model, eval_dl)
        accelerator.print(f"epoch {epoch + 1}: loss {running / len(train_dl):.4f}  accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
