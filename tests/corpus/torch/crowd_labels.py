import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
X = torch.randn(3000, 20)
clean = (X[:, :5].sum(1) > 0).long() + 2 * (X[:, 5:10].sum(1) > 0).long()
# every third annotator guessed
labels = torch.where(torch.rand(3000) < 0.35, torch.randint(0, 4, (3000,)), clean)

train = TensorDataset(X[:2500], labels[:2500])
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 4))
opt = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
crit = nn.CrossEntropyLoss()

for epoch in range(4):
    for xb, yb in DataLoader(train, batch_size=50, shuffle=True):
        opt.zero_grad()
        out = model(xb)
        loss = crit(out, yb)
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = (model(X[2500:]).argmax(1) == clean[2500:]).float().mean()
    print("epoch", epoch, "loss", float(loss), "accuracy on clean labels", float(acc))
