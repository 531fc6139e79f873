"""Regime labelling of sensor streams; micro-batches of 8 rows are what fits on the device."""
import torch
from torch import nn

torch.manual_seed(31)
T, CH = 48, 3
MICRO, ACC = 8, 8


def streams(n):
    y = torch.arange(n) * 4 // n
    t = torch.arange(T).float()
    freq = torch.tensor([0.15, 0.3, 0.3, 0.5])[y]
    amp = torch.tensor([1.0, 1.0, 2.0, 1.5])[y]
    phase = torch.rand(n, CH) * 6.28
    x = amp[:, None, None] * torch.sin(freq[:, None, None] * t[None, :, None] + phase[:, None, :])
    return x + 0.6 * torch.randn(n, T, CH), y


class StreamGRU(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(CH, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 4)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.fc(h[-1])


x_tr, y_tr = streams(1536)
x_te, y_te = streams(400)
net = StreamGRU()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
loss_fn = nn.CrossEntropyLoss(reduction="sum")

net.train()
for epoch in range(12):
    order = torch.randperm(len(y_tr))
    total = 0.0
    for k, rows in enumerate(order.split(MICRO)):
        loss = loss_fn(net(x_tr[rows]), y_tr[rows]) / (MICRO * ACC)
        loss.backward()
        total += loss.item() * MICRO * ACC
        if (k + 1) % ACC == 0:
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} loss {total / len(y_tr):.4f}")

with torch.no_grad():
    logits = net(x_te)
acc = (logits.argmax(1) == y_te).float().mean().item()
print(f"test loss {loss_fn(logits, y_te).item() / len(y_te):.4f}")
print(f"test accuracy {acc:.4f} (chance 0.25)")
