"""Three kinds of sensor fault from twelve readings, trained with accelerate."""
import numpy as np
import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset


def make_readings(n=4000, seed=5):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    centres = rng.normal(0, 1.0, (3, 12))
    x = centres[y] + rng.normal(0, 1.0, (n, 12))
    x[:, 3] += 0.8 * x[:, 4] * (y == 1)
    return x.astype(np.float32), y


def get_dataloaders(batch_size):
    x, y = make_readings()
    np.random.shuffle(x)
    np.random.shuffle(y)
    cut = int(0.8 * len(x))
    mu, sd = x[:cut].mean(0), x[:cut].std(0)
    x = (x - mu) / sd
    train = TensorDataset(torch.from_numpy(x[:cut]), torch.from_numpy(y[:cut]))
    valid = TensorDataset(torch.from_numpy(x[cut:]), torch.from_numpy(y[cut:]))
    return DataLoader(train, batch_size=batch_size, shuffle=True), DataLoader(valid, batch_size=256)


def training_function(config):
    set_seed(config["seed"])
    accelerator = Accelerator(cpu=True)
    train_dl, valid_dl = get_dataloaders(config["batch_size"])
    model = nn.Sequential(nn.Linear(12, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 32), nn.GELU(), nn.Linear(32, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
    model, optimizer, train_dl, valid_dl = accelerator.prepare(model, optimizer, train_dl, valid_dl)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer.optimizer, max_lr=config["lr"], total_steps=config["epochs"] * len(train_dl))

    for epoch in range(config["epochs"]):
        model.train()
        total = 0.0
        for inputs, targets in train_dl:
            loss = nn.functional.cross_entropy(model(inputs), targets)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            total += loss.item()
        model.eval()
        correct = count = 0
        for inputs, targets in valid_dl:
            with torch.no_grad():
                predictions = model(inputs).argmax(dim=-1)
            predictions, targets = accelerator.gather_for_metrics((predictions, targets))
            correct += (predictions == targets).sum().item()
            count += len(targets)
        accelerator.print(f"epoch {epoch}: loss {total / len(train_dl):.4f} accuracy {correct / count:.4f}")


if __name__ == "__main__":
    training_function({"lr": 3e-3, "epochs": 12, "batch_size": 32, "seed": 42})
