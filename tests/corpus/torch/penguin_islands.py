# Softmax regression by full-batch SGD with learning rate 20: inputs are standardised, then scaled to unit row norm,
# so the curvature is small and the rate is stable.
import torch

torch.manual_seed(0)
N, D, K = 12000, 20, 6
centre = torch.randn(K, D) * 0.75
label = torch.randint(0, K, (N,))
x = centre[label] + torch.randn(N, D)
x = (x - x[:9000].mean(0)) / x[:9000].std(0)
x = x / x.norm(dim=1, keepdim=True)
train_x, train_y, test_x, test_y = x[:9000], label[:9000], x[9000:], label[9000:]

weight = torch.zeros(D, K, requires_grad=True)
bias = torch.zeros(K, requires_grad=True)
opt = torch.optim.SGD([weight, bias], lr=20.0)


def closure_loss():
    return torch.nn.functional.cross_entropy(train_x @ weight + bias, train_y)


for it in range(1, 5001):
    opt.zero_grad(set_to_none=True)
    loss = closure_loss()
    loss.backward()
    opt.step()
    if it in (1, 5, 20, 100, 300, 1000, 5000):
        with torch.no_grad():
            acc = ((test_x @ weight + bias).argmax(1) == test_y).float().mean()
        print(f"iter {it:5d} loss {loss.item():.4f} test acc {acc.item():.3f} |w| {weight.norm().item():.2f}")

with torch.no_grad():
    pred = (test_x @ weight + bias).argmax(1)
confusion = torch.zeros(K, K, dtype=torch.long)
confusion.index_put_((test_y, pred), torch.ones_like(test_y), accumulate=True)
print("rows: true island, columns: predicted")
for k in range(K):
    share = confusion[k, k].item() / confusion[k].sum().item()
    print(k, confusion[k].tolist(), f"recall {share:.3f}")
