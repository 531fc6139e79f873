import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
STEPS = 120


def make_gauge_records(n):
    wet = torch.rand(n, 1, 1) * 0.6 + 0.1
    rain = torch.rand(n, STEPS, 1) * (torch.rand(n, STEPS, 1) < wet).float()
    valve = (torch.rand(n, STEPS, 1) < 0.5).float()
    collected = (rain * valve).sum(1) / 10
    return torch.cat([rain, valve], dim=2), collected


x_train, y_train = make_gauge_records(2400)
x_valid, y_valid = make_gauge_records(600)
mean, std = y_train.mean(), y_train.std()
train_loader = DataLoader(TensorDataset(x_train, (y_train - mean) / std), batch_size=32, shuffle=True)
valid_loader = DataLoader(TensorDataset(x_valid, (y_valid - mean) / std), batch_size=200)


class GaugeRNN(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity="relu", batch_first=True)
        self.readout = nn.Linear(hidden, 1)
        nn.init.eye_(self.rnn.weight_hh_l0)
        nn.init.normal_(self.rnn.weight_ih_l0, std=0.05)
        nn.init.zeros_(self.rnn.bias_hh_l0)
        nn.init.zeros_(self.rnn.bias_ih_l0)

    def forward(self, x):
        _, last = self.rnn(x)
        return self.readout(last[0])


class GaugeTrainer:
    def __init__(self, model, lr, max_norm, epochs):
        self.model, self.max_norm, self.epochs = model, max_norm, epochs
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, epochs)
        self.loss_fn = nn.MSELoss()

    def train_batch(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss_fn(self.model(x), y)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        err = torch.cat([self.model(x) - y for x, y in valid_loader])
        return err.pow(2).mean().item()

    def fit(self):
        for epoch in range(self.epochs):
            self.model.train()
            losses = [self.train_batch(x, y) for x, y in train_loader]
            self.schedule.step()
            valid = self.validate()
            print(f"epoch {epoch:2d}  lr {self.schedule.get_last_lr()[0]:.5f}  "
                  f"train mse {sum(losses) / len(losses):.4f}  valid mse {valid:.4f}")
        return valid


trainer = GaugeTrainer(GaugeRNN(), lr=0.01, max_norm=1.0, epochs=8)
mse = trainer.fit()
base = ((y_valid - mean) / std).pow(2).mean().item()
rmse = math.sqrt(mse) * std.item() if mse == mse else float("nan")
print(f"valid mse {mse:.4f} (predicting the mean: {base:.4f}), rmse {rmse:.4f} litres, R2 {1 - mse / base:.4f}")
