import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import ResNetConfig, ResNetForImageClassification

torch.manual_seed(12)
rng = np.random.default_rng(12)


def draw(kind, tint):
    yy, xx = np.mgrid[0:20, 0:20]
    cy, cx = rng.integers(7, 13, size=2)
    r = np.hypot(yy - cy, xx - cx)
    masks = [r < 5, (r > 4) & (r < 6.5), (abs(yy - cy) < 4) & (abs(xx - cx) < 4), abs(yy - cy) < 2, abs(xx - cx) < 2,
             abs((yy - cy) - (xx - cx)) < 2]
    img = np.stack([masks[kind] * t for t in tint]) + rng.normal(0, 0.2, size=(3, 20, 20))
    return img.astype(np.float32)


def make(n, kinds, tint):
    y = rng.integers(0, len(kinds), size=n)
    x = np.stack([draw(kinds[k], tint) for k in y])
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


def accuracy(model, data):
    model.eval()
    with torch.no_grad():
        logits = model(pixel_values=data.tensors[0]).logits
    return (logits.argmax(-1) == data.tensors[1]).float().mean().item()


model = ResNetForImageClassification(ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 64], depths=[1, 1, 1],
                                                  layer_type="basic", num_labels=4))

# stage one: four shapes, plenty of pictures
source = make(800, [0, 1, 2, 5], (1.0, 0.8, 0.9))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(4):
    model.train()
    for x, y in DataLoader(source, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        model(pixel_values=x, labels=y).loss.backward()
        optimizer.step()
    print("source epoch", epoch, "acc", accuracy(model, source))

# stage two: three other shapes, few pictures in tiny batches, so the batch norms keep their statistics
model.classifier[-1] = nn.Linear(64, 3)
model.num_labels = model.config.num_labels = 3
for p in model.resnet.embedder.parameters():
    p.requires_grad = False
target, held_out = make(120, [3, 4, 1], (0.9, 1.0, 0.7)), make(200, [3, 4, 1], (0.9, 1.0, 0.7))
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=5e-3, momentum=0.9)
for epoch in range(8):
    model.eval()
    total = 0
    for x, y in DataLoader(target, batch_size=4, shuffle=True):
        loss = model(pixel_values=x, labels=y).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
    print("target epoch", epoch, "loss", total / 30, "acc", accuracy(model, held_out))
