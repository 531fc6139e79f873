import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
y = torch.tensor(digits.target)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=64, shuffle=True)

teacher = nn.Sequential(
    nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(64 * 16, 128), nn.ReLU(), nn.Linear(128, 10))
student = nn.Sequential(nn.Flatten(), nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 10))


@torch.no_grad()
def accuracy(model):
    model.eval()
    return (model(X_te).argmax(1) == y_te).float().mean().item()


opt = torch.optim.Adam(teacher.parameters(), lr=1e-3)
for epoch in range(8):
    teacher.train()
    for xb, yb in loader:
        opt.zero_grad()
        F.cross_entropy(teacher(xb), yb).backward()
        opt.step()
print(f"teacher accuracy {accuracy(teacher):.3f}")
teacher.requires_grad_(False)

T, alpha = 4.0, 0.1      # temperature, weight of the hard labels
opt = torch.optim.AdamW(student.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=40)
for epoch in range(40):
    student.train()
    running = 0.0
    for xb, yb in loader:
        with torch.no_grad():
            soft = F.softmax(teacher(xb) / T, dim=1)
        out = student(xb)
        kd = F.kl_div(out / T, soft, reduction="batchmean") * T * T
        loss = alpha * F.cross_entropy(out, yb) + (1 - alpha) * kd
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(xb)
    sched.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d}  loss {running / len(X_tr):10.4f}  student accuracy {accuracy(student):.3f}")
