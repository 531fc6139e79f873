# Anomaly detection on water pump telemetry with a small autoencoder.
# Trained on normal operation only, score = reconstruction error.
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader

np.random.seed(21)
torch.manual_seed(21)

CHANNELS = 16


def normal_operation(n, loading):
    # three physical drivers (load, ambient temperature, valve) move all 16 channels
    drivers = np.random.randn(n, loading.shape[0])
    clean = drivers @ loading
    return 50 + 12 * clean + 2.0 * np.random.randn(n, CHANNELS)


def faulty_operation(n, loading):
    x = normal_operation(n, loading)
    # a stuck sensor or a leak: a few channels stop following the others
    for row in x:
        broken = np.random.choice(CHANNELS, 3, replace=False)
        donor = normal_operation(1, loading)[0]
        row[broken] = donor[broken]
    return x


loading = np.random.randn(3, CHANNELS) / np.sqrt(3)
train_raw = normal_operation(6000, loading)
test_raw = np.concatenate([normal_operation(1000, loading), faulty_operation(200, loading)])
test_label = np.concatenate([np.zeros(1000), np.ones(200)])

scaler = StandardScaler().fit(train_raw)
x_train = torch.tensor(scaler.transform(train_raw), dtype=torch.float32)
x_test = torch.tensor(scaler.transform(test_raw), dtype=torch.float32)


class PumpAE(nn.Module):
    def __init__(self, d=CHANNELS, bottleneck=3):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(d, 32),
            nn.ReLU(),
            nn.Linear(32, bottleneck),
        )
        self.decoder = nn.Sequential(
            nn.Linear(bottleneck, 32),
            nn.ReLU(),
            nn.Linear(32, d),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


ae = PumpAE()
optimizer = torch.optim.Adam(ae.parameters(), lr=2e-3, weight_decay=1e-6)
mse = nn.MSELoss()
loader = DataLoader(x_train, batch_size=128, shuffle=True)

for epoch in range(1, 31):
    ae.train()
    losses = []
    for x in loader:
        recon = ae(x)
        loss = mse(recon, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 5 == 0:
        ae.eval()
        with torch.no_grad():
            err = ((ae(x_test) - x_test) ** 2).mean(dim=1).numpy()
        auc = roc_auc_score(test_label, err)
        print(f"epoch {epoch}: train mse {np.mean(losses):.4f} | normal {err[:1000].mean():.3f} faulty {err[1000:].mean():.3f} | AUC {auc:.3f}")

with torch.no_grad():
    train_err = ((ae(x_train) - x_train) ** 2).mean(dim=1).numpy()
threshold = np.quantile(train_err, 0.99)
print("alarms raised on faulty rows: %.1f%%" % (100 * (err[1000:] > threshold).mean()))
