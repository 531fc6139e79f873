# Softmax regression on tiny-scaled pixel counts, plain SGD.
import torch
import torch.nn.functional as F

torch.manual_seed(31)
K, D = 6, 144
proto = torch.rand(K, D) < 0.3


def stamps(n):
    y = torch.randint(0, K, (n,))
    flip = torch.rand(n, D) < 0.3
    x = (proto[y] ^ flip).float()
    return x / x.sum(1, keepdim=True), y     # each row sums to one, so entries are about 0.01-0.03


xt, yt = stamps(24000)
xv, yv = stamps(1500)
W = torch.zeros(D, K, requires_grad=True)
b = torch.zeros(K, requires_grad=True)
opt = torch.optim.SGD([{"params": [W], "lr": 150.0}, {"params": [b], "lr": 0.1}])

for ep in range(130):
    for i in torch.randperm(len(xt)).split(50):
        loss = F.cross_entropy(xt[i] @ W + b, yt[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    opt.param_groups[0]["lr"] *= 0.98
    if ep % 10 == 0 or ep == 129:
        with torch.no_grad():
            o = xv @ W + b
            print(f"ep {ep:2d} val_loss {F.cross_entropy(o, yv):.4f} acc {(o.argmax(1) == yv).float().mean():.4f}")


with torch.no_grad():
    pred = (xv @ W + b).argmax(1)
    table = torch.zeros(K, K, dtype=torch.long)
    table.index_put_((yv, pred), torch.ones_like(yv), accumulate=True)
print("confusion:")
for k, row in enumerate(table.tolist()):
    print(k, row)
