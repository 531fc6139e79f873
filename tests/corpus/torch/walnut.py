# how long does plain SGD look for a sparse parity before it finds it?
import torch
import torch.nn as nn

torch.manual_seed(1)
n_bits, support, n_train, n_val = 30, (3, 11, 17), 12000, 3000
bs, epochs = 32, 18

bits = torch.randint(0, 2, (n_train + n_val, n_bits)).float() * 2 - 1
sign = bits[:, list(support)].prod(1)
x_train, x_val = bits[:n_train], bits[n_train:]
s_train, s_val = sign[:n_train], sign[n_train:]

net = nn.Sequential(nn.Linear(n_bits, 128), nn.ReLU(), nn.Linear(128, 1))
sgd = torch.optim.SGD(net.parameters(), lr=0.03, weight_decay=1e-3)


def hinge(score, s):
    return (1 - score * s).clamp(min=0).mean()


first_seen = None
for epoch in range(epochs):
    net.train()
    total = 0.0
    for idx in torch.randperm(n_train).split(bs):
        loss = hinge(net(x_train[idx]).squeeze(1), s_train[idx])
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        total += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        out = net(x_val).squeeze(1)
        acc = ((out > 0) == (s_val > 0)).float().mean().item()
    if first_seen is None and acc > 0.9:
        first_seen = epoch + 1
    print(f"epoch {epoch + 1:3d}  hinge {total / n_train:.4f}  val acc {acc:.4f}")

w = net[0].weight.detach().abs().mean(0)
print("most used bits", sorted(w.topk(3).indices.tolist()), "wanted", list(support))
print("above 90 % from epoch", first_seen)
