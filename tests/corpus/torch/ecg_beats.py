# ECG screening: 1D convnet decides from a 2-second strip whether the patient has
# the conduction disorder. Each patient contributes many strips of one recording.
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(11)
torch.manual_seed(11)

N_PATIENTS, STRIPS, FS, LENGTH = 150, 20, 64, 128


def gauss(t, mu, sigma):
    return np.exp(-0.5 * ((t - mu) / sigma) ** 2)


def make_patient(has_disorder):
    """Fixed morphology of one person; strips only differ in phase, rate jitter and noise."""
    qrs = 0.030 + 0.011 * has_disorder + rng.normal(0, 0.007)
    morph = dict(
        p=rng.uniform(0.05, 0.35), p_pos=rng.uniform(-0.24, -0.15),
        r=rng.uniform(0.7, 1.4), qrs=max(qrs, 0.012),
        s=rng.uniform(-0.45, -0.05), t=rng.uniform(-0.2, 0.6),
        t_pos=rng.uniform(0.20, 0.36), t_w=rng.uniform(0.03, 0.09),
        rate=rng.uniform(0.9, 1.7), hum=rng.uniform(0, 0.25), hum_f=rng.uniform(8, 20),
    )
    return morph


def strip(m):
    t = np.arange(LENGTH) / FS
    x = rng.normal(0, 0.08, LENGTH)
    start = rng.uniform(0, 1 / m["rate"])
    period = 1 / (m["rate"] * rng.normal(1, 0.02))
    for beat in np.arange(start - period, t[-1] + period, period):
        x += m["p"] * gauss(t, beat + m["p_pos"], 0.025)
        x += m["r"] * gauss(t, beat, m["qrs"])
        x += m["s"] * gauss(t, beat + 0.06, 0.018)
        x += m["t"] * gauss(t, beat + m["t_pos"], m["t_w"])
    x += m["hum"] * np.sin(2 * np.pi * m["hum_f"] * t + rng.uniform(0, 6.28))
    return x


X, y, patient = [], [], []
for pid in range(N_PATIENTS):
    label = pid % 2
    m = make_patient(label)
    for _ in range(STRIPS):
        X.append(strip(m))
        y.append(label)
        patient.append(pid)
X = np.stack(X).astype(np.float32)[:, None]
y = np.array(y)
patient = np.array(patient)
print("strips", X.shape, "positives", y.mean(), "patients", len(set(patient)))

# ---------------------------------------------------------------- split
train_idx, val_idx = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=0)
mu, sd = X[train_idx].mean(), X[train_idx].std()
Xt = torch.from_numpy((X - mu) / sd)
yt = torch.from_numpy(y).float()


# ---------------------------------------------------------------- model
class ECGNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.c1 = nn.Conv1d(1, width, 9, padding=4)
        self.c2 = nn.Conv1d(width, width, 7, padding=3)
        self.c3 = nn.Conv1d(width, width, 5, padding=2)
        self.b1, self.b2, self.b3 = (nn.BatchNorm1d(width) for _ in range(3))
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(2 * width, 1)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.b1(self.c1(x))), 2)
        x = F.max_pool1d(F.relu(self.b2(self.c2(x))), 2)
        x = F.relu(self.b3(self.c3(x)))
        pooled = torch.cat([x.mean(-1), x.amax(-1)], 1)
        return self.out(self.drop(pooled)).squeeze(1)


net = ECGNet()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
EPOCHS, BATCH = 12, 64
steps = EPOCHS * int(np.ceil(len(train_idx) / BATCH))
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=4e-3, total_steps=steps)


def evaluate():
    net.eval()
    with torch.no_grad():
        prob = torch.sigmoid(net(Xt[val_idx])).numpy()
    return balanced_accuracy_score(y[val_idx], prob > 0.5), roc_auc_score(y[val_idx], prob)


# ---------------------------------------------------------------- training
for epoch in range(EPOCHS):
    net.train()
    order = np.random.default_rng(epoch).permutation(train_idx)
    total = 0.0
    for i in range(0, len(order), BATCH):
        b = order[i:i + BATCH]
        loss = F.binary_cross_entropy_with_logits(net(Xt[b]), yt[b])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        total += loss.item() * len(b)
    if epoch % 3 == 0 or epoch == EPOCHS - 1:
        bacc, auc = evaluate()
        print(f"epoch {epoch:2d} train_loss {total / len(order):.4f} val_bacc {bacc:.3f} val_auc {auc:.3f}")

bacc, auc = evaluate()
print(f"FINAL balanced accuracy {bacc:.3f}  AUC {auc:.3f}  (guessing: 0.500)")
