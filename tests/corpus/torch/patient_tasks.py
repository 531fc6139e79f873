import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.randn(2000, 16)
risk = (x[:, :4].sum(1) > 0).float()
ward = (x[:, 4:8].argmax(1))
stay = 0.5 * x[:, 8] - x[:, 9] + 0.1 * torch.randn(2000)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(16, 64), nn.LayerNorm(64), nn.SiLU(), nn.Dropout(0.1))
        self.heads = nn.ModuleDict({"risk": nn.Linear(64, 1), "ward": nn.Linear(64, 4), "stay": nn.Linear(64, 1)})

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


net = Shared()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(x[:1600], risk[:1600], ward[:1600], stay[:1600]), batch_size=40, shuffle=True)
for epoch in range(6):
    net.train()
    for xb, rb, wb, sb in loader:
        out = net(xb)
        loss = (nn.functional.binary_cross_entropy_with_logits(out["risk"].squeeze(1), rb)
                + nn.functional.cross_entropy(out["ward"], wb)
                + 0.5 * nn.functional.mse_loss(out["stay"].squeeze(1), sb))
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        out = net(x[1600:])
    print(epoch, loss.item(), ((out["risk"].squeeze(1) > 0) == (risk[1600:] > 0.5)).float().mean().item(),
          (out["ward"].argmax(1) == ward[1600:]).float().mean().item())
