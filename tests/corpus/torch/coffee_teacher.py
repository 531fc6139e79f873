# Mean teacher on aroma profiles of coffee beans (30 sensors, 5 origins):
# 3 labelled samples per origin, 1500 unlabelled ones. The teacher is an EMA of the student.
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_blobs

torch.manual_seed(6)
ORIGINS, SENSORS, PER_ORIGIN = 5, 30, 3

X, y = make_blobs(2500, n_features=SENSORS, centers=ORIGINS, center_box=(-1.0, 1.0), cluster_std=1.0, random_state=6)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
X = (X - X.mean(0)) / X.std(0)
labelled = torch.cat([torch.where(y[:1500] == c)[0][:PER_ORIGIN] for c in range(ORIGINS)])
X_pool, X_test, y_test = X[:1500], X[1500:], y[1500:]


def make_net():
    return nn.Sequential(
        nn.Linear(SENSORS, 64), nn.ReLU(),
        nn.Linear(64, 64), nn.ReLU(),
        nn.Linear(64, ORIGINS),
    )


student = make_net()
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)


@torch.no_grad()
def update_teacher(decay):
    for pt, ps in zip(teacher.parameters(), student.parameters()):
        pt.mul_(decay).add_(ps, alpha=1 - decay)


def jitter(x, scale=0.6):
    return x + scale * torch.randn_like(x)


@torch.no_grad()
def accuracy(net):
    return (net(X_test).argmax(1) == y_test).float().mean().item()


optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
STEPS = 1500
for step in range(1, STEPS + 1):
    # the consistency term comes in slowly
    ramp = min(1.0, step / (0.4 * STEPS))
    supervised = F.cross_entropy(student(jitter(X[labelled])), y[labelled])

    batch = X_pool[torch.randint(0, 1500, (200,))]
    with torch.no_grad():
        target = F.softmax(teacher(jitter(batch)) / 0.5, dim=1)
    prediction = F.softmax(student(jitter(batch)), dim=1)
    consistency = F.mse_loss(prediction, target)

    loss = supervised + 20.0 * ramp * consistency
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_teacher(min(0.99, 1 - 1 / (step + 1)))

    if step % 300 == 0:
        print(f"step {step}: supervised {supervised.item():.3f} consistency {consistency.item():.4f} total {loss.item():.3f} "
              f"| student {accuracy(student):.3f} teacher {accuracy(teacher):.3f}")
