#%% Soil type out of 12 lab readings (notebook export)
import torch
import torch.nn.functional as F

g = torch.Generator().manual_seed(77)
torch.manual_seed(77)

#%% data
n_types, n_feat = 5, 12
centres = 1.4 * torch.randn(n_types, n_feat, generator=g)
def sample(n):
    y = torch.randint(0, n_types, (n,), generator=g)
    x = centres[y] + torch.randn(n, n_feat, generator=g)
    x[:, 0] = x[:, 0].exp().clamp(max=20)        # salinity is log-normal in the lab sheet
    return x, y

x_all, y_all = sample(12000)
x_test, y_test = sample(1500)
mean, std = x_all.mean(0), x_all.std(0)
x_all = (x_all - mean) / std
x_test = (x_test - mean) / std

#%% model
W1 = (torch.randn(n_feat, 64, generator=g) / n_feat ** 0.5).requires_grad_()
b1 = torch.zeros(64, requires_grad=True)
W2 = (torch.randn(64, 64, generator=g) / 8).requires_grad_()
b2 = torch.zeros(64, requires_grad=True)
W3 = (torch.randn(64, n_types, generator=g) / 8).requires_grad_()
b3 = torch.zeros(n_types, requires_grad=True)
params = [W1, b1, W2, b2, W3, b3]

def forward(x):
    h = torch.relu(x @ W1 + b1)
    h = torch.relu(h @ W2 + b2)
    return h @ W3 + b3

#%% training
opt = torch.optim.SGD(params, lr=0.1, momentum=0.9)
batch = 100

def epoch_batches(x, y):
    perm = torch.randperm(len(x), generator=g)
    x, y = x[perm], y[perm]
    for i in range(0, len(x), batch):
        yield x[i:i + batch], y[i:i + batch]

history = []
for epoch in range(120):
    tot = 0.0
    for xb, yb in epoch_batches(x_all, y_all):
        loss = F.cross_entropy(forward(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    history.append(tot / (len(x_all) / batch))
    if epoch % 10 == 9:
        with torch.no_grad():
            acc = (forward(x_test).argmax(1) == y_test).float().mean().item()
        print(f"epoch {epoch + 1:3d}  loss {history[-1]:.4f}  test accuracy {acc:.3f}")
