import math

import torch
import torch.nn as nn

torch.manual_seed(42)

PEAK_LR = 1e-3
WARMUP = 40
EPOCHS = 8
BATCH = 40
N_CLASSES = 6


def sigils(n):
    y = torch.randint(0, N_CLASSES, (n,))
    img = 0.35 * torch.randn(n, 16, 16)
    r = torch.arange(16)
    for i, c in enumerate(y.tolist()):
        a, b = torch.randint(3, 13, (2,)).tolist()
        if c in (0, 2, 4):
            img[i, a] += 1.2
        if c in (1, 2, 5):
            img[i, :, b] += 1.2
        if c in (3, 4):
            img[i, r, r] += 1.2
        if c == 5:
            img[i, r, 15 - r] += 1.2
    return img, y


class PatchTransformer(nn.Module):
    def __init__(self, patch=4, dim=64, depth=2):
        super().__init__()
        self.patch = patch
        self.embed = nn.Linear(patch * patch, dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, (16 // patch) ** 2 + 1, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, N_CLASSES)

    def forward(self, img):
        p = img.unfold(1, self.patch, self.patch).unfold(2, self.patch, self.patch)
        x = self.embed(p.reshape(len(img), -1, self.patch ** 2))
        x = torch.cat([self.cls.expand(len(img), -1, -1), x], 1) + self.pos
        return self.head(self.norm(self.encoder(x))[:, 0])


x_train, y_train = sigils(2400)
x_test, y_test = sigils(400)
total_steps = EPOCHS * len(x_train) // BATCH


def warmup_cosine(step):
    if step < WARMUP:
        return PEAK_LR * (step + 1) / WARMUP
    progress = (step - WARMUP) / (total_steps - WARMUP)
    return PEAK_LR * 0.5 * (1 + math.cos(math.pi * progress))


model = PatchTransformer()
optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_LR, weight_decay=0.05)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup_cosine)
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)

for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    perm = torch.randperm(len(x_train))
    for rows in perm.split(BATCH):
        loss = criterion(model(x_train[rows]), y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        running += loss.item() * len(rows)
    model.eval()
    with torch.no_grad():
        acc = (model(x_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch + 1}/{EPOCHS} loss {running / len(x_train):.4f} test acc {acc:.3f}")
