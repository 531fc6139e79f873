"""Echo-state model of buoy heights: the recurrent part is random and stays as drawn, only the readout learns."""
import torch
import torch.nn as nn

torch.manual_seed(5)


def buoy(n):
    t = torch.arange(n).float()
    h = torch.sin(t / 7) + 0.6 * torch.sin(t / 11.3 + 1) * torch.cos(t / 31)
    return h + 0.02 * torch.randn(n)


class Reservoir(nn.Module):
    def __init__(self, size=200, radius=0.9, leak=0.5):
        super().__init__()
        w = torch.randn(size, size) * (torch.rand(size, size) < 0.1)
        w = w * radius / torch.linalg.eigvals(w).abs().max()
        self.w = nn.Parameter(w, requires_grad=False)
        self.win = nn.Parameter(torch.rand(size, 1) - 0.5, requires_grad=False)
        self.leak = leak
        self.readout = nn.Linear(size, 1)

    @torch.no_grad()
    def states(self, u):
        s, out = torch.zeros(self.w.shape[0]), []
        for v in u:
            s = (1 - self.leak) * s + self.leak * torch.tanh(self.w @ s + self.win[:, 0] * v)
            out.append(s)
        return torch.stack(out)

    def forward(self, states):
        return self.readout(states).squeeze(-1)


AHEAD, WASH = 5, 200
series = buoy(44000)
net = Reservoir()
S = net.states(series[:-AHEAD])[WASH:]
T = series[AHEAD:][WASH:]
cut = 38000
opt = torch.optim.Adam(net.readout.parameters(), lr=3e-3)
print("trained numbers:", sum(p.numel() for p in net.parameters() if p.requires_grad),
      "of", sum(p.numel() for p in net.parameters()))
for ep in range(80):
    run = 0.0
    for i in torch.randperm(cut).split(256):
        loss = (net(S[i]) - T[i]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        run += loss.item() * len(i)
    with torch.no_grad():
        v = (net(S[cut:]) - T[cut:]).pow(2).mean().item()
    print(f"ep {ep} train {run / cut:.5f} val {v:.5f} (variance {T.var().item():.3f})")
