"""Telecom churn: probability that a customer leaves within 30 days."""
import logging
import sys

import numpy as np
import torch
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.preprocessing import StandardScaler
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(message)s")
logger = logging.getLogger(__name__)


def customers(n, seed):
    rng = np.random.default_rng(seed)
    tenure = rng.exponential(24, n)
    calls = rng.poisson(1.5, n)
    price = rng.normal(45, 12, n)
    usage = rng.gamma(3, 5, n)
    contract = rng.integers(0, 3, n)
    outages = rng.poisson(0.7, n)
    noise = rng.normal(size=(n, 20))  # marketing attributes bought from a third party
    logit = (-0.7 - 0.04 * tenure + 0.7 * calls + 0.05 * (price - 45) - 0.9 * contract
             + 0.7 * outages * (calls > 1) - 0.03 * usage + 0.5)
    y = rng.random(n) < 1 / (1 + np.exp(-1.3 * logit))
    x = np.column_stack([tenure, calls, price, usage, contract == 0, contract == 2, outages, noise])
    return x.astype("float32"), y.astype("float32")


class ChurnModel(nn.Sequential):
    def __init__(self, n_in, hidden=(256, 128)):
        layers = []
        for h in hidden:
            layers += [nn.Linear(n_in, h), nn.ReLU()]
            n_in = h
        super().__init__(*layers, nn.Linear(n_in, 1), nn.Flatten(0))


class Fitter:
    def __init__(self, model, lr=1e-3, batch_size=64, max_epochs=40):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss = nn.BCEWithLogitsLoss()
        self.batch_size, self.max_epochs = batch_size, max_epochs

    def predict(self, x):
        self.model.eval()
        with torch.no_grad():
            return torch.sigmoid(self.model(x)).numpy()

    def fit(self, x, y, x_val, y_val):
        best_loss, best_epoch, best_state = float("inf"), -1, None
        for epoch in range(self.max_epochs):
            self.model.train()
            for idx in torch.randperm(len(x)).split(self.batch_size):
                loss = self.loss(self.model(x[idx]), y[idx])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            val = log_loss(y_val.numpy(), self.predict(x_val).clip(1e-6, 1 - 1e-6))
            if val < best_loss:
                best_loss, best_epoch = val, epoch
                best_state = self.model.state_dict()
            if epoch % 5 == 0:
                logger.info("epoch %2d  train %.4f  valid %.4f", epoch, loss.item(), val)
        self.model.load_state_dict(best_state)
        logger.info("restored epoch %d with validation loss %.4f", best_epoch, best_loss)
        return self


def main():
    torch.manual_seed(0)
    scaler = StandardScaler()
    sets = [customers(1200, 1), customers(1000, 2), customers(4000, 3)]
    scaler.fit(sets[0][0])
    (x, y), (xv, yv), (xt, yt) = [
        (torch.from_numpy(scaler.transform(a).astype("float32")), torch.from_numpy(b)) for a, b in sets]

    fitter = Fitter(ChurnModel(x.shape[1])).fit(x, y, xv, yv)
    p = fitter.predict(xt).clip(1e-6, 1 - 1e-6)
    rate = float(y.mean())
    logger.info("base rate %.3f, its log loss %.4f", rate, log_loss(yt.numpy(), np.full(len(yt), rate)))
    logger.info("test log loss %.4f  AUC %.4f", log_loss(yt.numpy(), p), roc_auc_score(yt.numpy(), p))


if __name__ == "__main__":
    main()
