import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import ResNetConfig, ResNetForImageClassification, get_cosine_schedule_with_warmup

torch.manual_seed(0)
rng = np.random.default_rng(0)
CLANS = 6
setts = [(rng.uniform(60, 200, 3), rng.uniform(60, 200, 3), rng.integers(3, 8), rng.integers(1, 3)) for _ in range(CLANS)]


def weave(clan):
    ground, stripe, period, width = setts[clan]
    img = np.tile(ground, (24, 24, 1))
    off = rng.integers(0, period, 2)
    r = (np.arange(24) + off[0]) % period < width
    c = (np.arange(24) + off[1]) % period < width
    img[r] = 0.5 * img[r] + 0.5 * stripe
    img[:, c] = 0.5 * img[:, c] + 0.5 * stripe
    return np.clip(img * rng.uniform(0.6, 1.3) + rng.normal(0, 35, img.shape), 0, 255)


def make(n):
    y = rng.integers(0, CLANS, n)
    x = np.stack([weave(k) for k in y]).transpose(0, 3, 1, 2) / 255.0
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


train_set, test_set = make(960), make(300)
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
test_loader = DataLoader(test_set, batch_size=100)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
config = ResNetConfig(num_channels=3, embedding_size=16, hidden_sizes=[16, 32, 48], depths=[3, 4, 3], layer_type="basic",
                      num_labels=CLANS)
model = ResNetForImageClassification(config).to(device)
epochs = 5
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
scheduler = get_cosine_schedule_with_warmup(optimizer, 20, epochs * len(train_loader))


@torch.no_grad()
def accuracy(loader):
    model.eval()
    hits = 0
    for x, y in loader:
        hits += (model(x.to(device)).logits.argmax(-1).cpu() == y).sum().item()
    return hits / len(loader.dataset)


print(f"untrained: {accuracy(test_loader):.3f}")
for epoch in range(epochs):
    total = 0.0
    for x, y in train_loader:
        out = model(pixel_values=x.to(device), labels=y.to(device))
        optimizer.zero_grad()
        out.loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        scheduler.step()
        total += out.loss.item() * len(y)
    print(f"epoch {epoch + 1}  loss {total / len(train_set):.4f}  test {accuracy(test_loader):.3f}")
