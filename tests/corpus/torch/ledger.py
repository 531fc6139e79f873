import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
T = 3.0


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc = nn.Sequential(nn.Linear(64 * 4, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


class Student(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))

    def forward(self, x):
        return self.net(x)


@torch.no_grad()
def collect_logits(model, loader):
    model.eval()
    return torch.cat([model(xb) for xb, _ in loader])


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in loader)
    return hits / len(loader.dataset)


def train_teacher(loader, epochs=12):
    model = Teacher()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        model.train()
        for xb, yb in loader:
            opt.zero_grad()
            F.cross_entropy(model(xb), yb).backward()
            opt.step()
    return model


def distill(student, loader, epochs=40):
    opt = torch.optim.Adam(student.parameters(), lr=3e-3)
    for ep in range(epochs):
        student.train()
        total = 0.0
        for xb, tb in loader:
            log_p = F.log_softmax(student(xb) / T, dim=1)
            loss = F.kl_div(log_p, F.softmax(tb / T, dim=1), reduction="batchmean") * T * T
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        if ep % 5 == 4:
            print(f"  distill epoch {ep + 1:2d}  kd loss {total / len(loader.dataset):.4f}")
    return student


digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0
targets = torch.tensor(digits.target)
tr, te = train_test_split(torch.arange(len(targets)).numpy(), test_size=0.25, random_state=0, stratify=digits.target)

train_set = TensorDataset(images[tr], targets[tr])
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
test_loader = DataLoader(TensorDataset(images[te], targets[te]), batch_size=256)

teacher = train_teacher(train_loader)
print("teacher test accuracy", round(accuracy(teacher, test_loader), 4))

# run the teacher once and keep its outputs, the student only sees those
soft = collect_logits(teacher, train_loader)
kd_loader = DataLoader(TensorDataset(images[tr], soft), batch_size=64, shuffle=True)

student = distill(Student(), kd_loader)
n_t = sum(p.numel() for p in teacher.parameters())
n_s = sum(p.numel() for p in student.parameters())
print(f"student test accuracy {accuracy(student, test_loader):.4f}  ({n_s} parameters, teacher {n_t})")
