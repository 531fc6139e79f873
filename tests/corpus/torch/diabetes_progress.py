# Disease progression regression (sklearn diabetes data), keeping the best epoch
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class BestModelKeeper:
    """Remembers the weights of the epoch with the lowest validation loss."""

    def __init__(self):
        self.best_loss = float("inf")
        self.best_epoch = None
        self.best_weights = None

    def update(self, epoch, val_loss, model):
        if val_loss < self.best_loss:
            self.best_loss = val_loss
            self.best_epoch = epoch
            self.best_weights = model.state_dict()

    def restore(self, model):
        model.load_state_dict(self.best_weights)


class Trainer:
    def __init__(self, model, lr=1e-3, batch_size=32):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.MSELoss()
        self.batch_size = batch_size
        self.keeper = BestModelKeeper()

    def train_epoch(self, x, y):
        self.model.train()
        perm = torch.randperm(len(x))
        for idx in perm.split(self.batch_size):
            self.optimizer.zero_grad()
            loss = self.loss_fn(self.model(x[idx]), y[idx])
            loss.backward()
            self.optimizer.step()

    def loss_on(self, x, y):
        self.model.eval()
        with torch.no_grad():
            return self.loss_fn(self.model(x), y).item()

    def fit(self, train, val, epochs):
        for epoch in range(1, epochs + 1):
            self.train_epoch(*train)
            val_loss = self.loss_on(*val)
            self.keeper.update(epoch, val_loss, self.model)
            if epoch % 25 == 0 or epoch == 1:
                print(f"epoch {epoch:3d}  train {self.loss_on(*train):.3f}  val {val_loss:.3f}")
        self.keeper.restore(self.model)
        print(f"restored epoch {self.keeper.best_epoch} (val {self.keeper.best_loss:.3f})")


def load():
    X, y = load_diabetes(return_X_y=True)
    y = y.reshape(-1, 1)
    X_rest, X_test, y_rest, y_test = train_test_split(X, y, test_size=0.25, random_state=8)
    X_tr, X_val, y_tr, y_val = train_test_split(X_rest, y_rest, test_size=0.25, random_state=8)
    sx, sy = StandardScaler().fit(X_tr), StandardScaler().fit(y_tr)

    def t(a, scaler):
        return torch.tensor(scaler.transform(a), dtype=torch.float32)

    return (t(X_tr, sx), t(y_tr, sy)), (t(X_val, sx), t(y_val, sy)), (t(X_test, sx), y_test), sy


if __name__ == "__main__":
    torch.manual_seed(12)
    train, val, (x_test, y_test), y_scaler = load()
    net = nn.Sequential(
        nn.Linear(10, 128), nn.ReLU(),
        nn.Linear(128, 128), nn.ReLU(),
        nn.Linear(128, 1),
    )
    trainer = Trainer(net)
    trainer.fit(train, val, epochs=200)

    net.eval()
    with torch.no_grad():
        progression = y_scaler.inverse_transform(net(x_test).numpy())
    print("test R2: %.3f" % r2_score(y_test, progression))
