import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

# crowd labels: 45 of 100 workers click at random; the test labels are from an expert
g = torch.Generator().manual_seed(17)
torch.manual_seed(17)
d = load_digits()
xtr, xte, ytr, yte = train_test_split(d.images, d.target, test_size=0.25, random_state=17, stratify=d.target)
xtr = (torch.tensor(xtr, dtype=torch.float32).unsqueeze(1) - 4.9) / 6.0
xte = (torch.tensor(xte, dtype=torch.float32).unsqueeze(1) - 4.9) / 6.0
ytr, yte = torch.tensor(ytr), torch.tensor(yte)
careless = torch.rand(len(ytr), generator=g) < 0.45
crowd = torch.where(careless, torch.randint(0, 10, (len(ytr),), generator=g), ytr)
print(f"agreement crowd / expert: {(crowd == ytr).float().mean():.3f}")

net = nn.Sequential(
    nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Dropout(0.3), nn.Linear(128, 10),
)
micro, accum, epochs = 16, 4, 12
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3, nesterov=True)
steps = epochs * -(-len(crowd) // (micro * accum))
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.1, total_steps=steps)
criterion = nn.CrossEntropyLoss()

for epoch in range(epochs):
    net.train()
    chunks = torch.randperm(len(crowd)).split(micro)
    total = hits = 0
    for k, idx in enumerate(chunks):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = net(xtr[idx])
            loss = criterion(logits, crowd[idx])
        (loss / accum).backward()
        total += loss.item() * len(idx)
        hits += (logits.argmax(1) == crowd[idx]).sum().item()
        if (k + 1) % accum == 0 or k + 1 == len(chunks):
            opt.step()
            sched.step()
            opt.zero_grad(set_to_none=True)
    net.eval()
    with torch.no_grad():
        acc = (net(xte).argmax(1) == yte).float().mean().item()
    print(f"{epoch + 1:2d} crowd loss {total / len(crowd):.3f} crowd acc {hits / len(crowd):.3f} expert test acc {acc:.3f}")
