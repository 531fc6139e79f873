import torch

torch.manual_seed(0)
x = torch.linspace(-2, 2, 200).unsqueeze(1)
y = torch.exp(-x ** 2) * torch.cos(3 * x) + 0.02 * torch.randn_like(x)
net = torch.nn.Sequential(torch.nn.Linear(1, 24), torch.nn.Tanh(), torch.nn.Linear(24, 1))
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=10, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    return loss


for i in range(40):
    loss = optimizer.step(closure)
    if i % 5 == 0:
        print(i, loss.item())
