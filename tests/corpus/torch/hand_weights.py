import torch

torch.manual_seed(123)

# toy data: is a point inside the ring or outside?
n = 2000
points = torch.randn(n, 2)
radius = points.norm(dim=1)
label = ((radius > 0.8) & (radius < 1.6)).float()
x_train, y_train = points[:1600], label[:1600]
x_test, y_test = points[1600:], label[1600:]

# weights
W1 = (torch.randn(2, 40) * 0.7).requires_grad_()
b1 = (torch.randn(40) * 0.5).requires_grad_()
W2 = (torch.randn(40, 40) * 0.2).requires_grad_()
b2 = torch.zeros(40, requires_grad=True)
W3 = (torch.randn(40, 1) * 0.2).requires_grad_()
b3 = torch.zeros(1, requires_grad=True)
params = [W1, b1, W2, b2, W3, b3]


def forward(x):
    h = torch.tanh(x @ W1 + b1)
    h = torch.tanh(h @ W2 + b2)
    return torch.sigmoid(h @ W3 + b3)[:, 0]


lr = 0.5
batch_size = 40
for epoch in range(60):
    order = torch.randperm(len(x_train))
    epoch_loss = 0
    for i in range(0, len(x_train), batch_size):
        idx = order[i:i + batch_size]
        p = forward(x_train[idx]).clamp(1e-6, 1 - 1e-6)
        t = y_train[idx]
        loss = -(t * torch.log(p) + (1 - t) * torch.log(1 - p)).mean()
        loss.backward()
        with torch.no_grad():
            for w in params:
                w -= lr * w.grad
                w.grad = None
        epoch_loss += loss.item()
    if (epoch + 1) % 10 == 0:
        with torch.no_grad():
            acc = ((forward(x_test) > 0.5).float() == y_test).float().mean()
        print("epoch", epoch + 1, "loss", round(epoch_loss / (len(x_train) / batch_size), 4), "acc", round(acc.item(), 3))
