"""Two-tower matching of dish 'photos' (feature maps) to ingredient lists."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(4)
N_ING, HIDDEN, OUT = 60, 128, 32
look = torch.randn(N_ING, 3 * 8 * 8) * 0.5


def dishes(n):
    bags = torch.stack([torch.randperm(N_ING)[:6] for _ in range(n)])
    photo = look[bags].sum(1) + 2.0 * torch.randn(n, 3 * 64)
    return photo.view(n, 3, 8, 8), bags


class PhotoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(192, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, OUT))

    def forward(self, x):
        return self.net(x)


class ListTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(N_ING, HIDDEN, mode="mean")
        self.out = nn.Sequential(nn.GELU(), nn.Linear(HIDDEN, OUT))

    def forward(self, ids):
        return self.out(self.bag(ids))


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.photo = PhotoTower()
        self.list = ListTower()
        self.log_scale = nn.Parameter(torch.zeros(()))

    def forward(self, photo, bags):
        p = F.normalize(self.photo(photo), dim=-1)
        q = F.normalize(self.list(bags), dim=-1)
        return p @ q.t() * self.log_scale.exp().clamp(max=100)


@torch.no_grad()
def recall(model, photo, bags, k=1):
    model.eval()
    p = F.normalize(model.photo(photo), dim=-1)
    q = F.normalize(model.list(bags), dim=-1)
    top = (p @ q.t()).topk(k, dim=1).indices
    return (top == torch.arange(len(p)).unsqueeze(1)).any(1).float().mean().item()


train_photo, train_bags = dishes(10000)
test_photo, test_bags = dishes(1000)
model = Matcher()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
batch = 100
for epoch in range(30):
    model.train()
    perm = torch.randperm(len(train_photo))
    running = 0.0
    for idx in perm.split(batch):
        logits = model(train_photo[idx], train_bags[idx])
        target = torch.arange(len(idx))
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    print(f"epoch {epoch}  loss {running / (len(perm) / batch):.4f}  scale {model.log_scale.exp().item():.2f}  "
          f"recall@1 {recall(model, test_photo, test_bags):.3f}")
