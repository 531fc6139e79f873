import torch
from torch import nn

torch.manual_seed(0)
USERS, FILMS, K = 300, 200, 6
taste, genre = torch.randn(USERS, 3), torch.randn(FILMS, 3)
pairs = torch.stack([torch.randint(0, USERS, (20000,)), torch.randint(0, FILMS, (20000,))], 1)
stars = 3.5 + (taste[pairs[:, 0]] * genre[pairs[:, 1]]).sum(1) * 0.6 + 0.2 * torch.randn(20000)


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(USERS, K, sparse=True)
        self.film = nn.Embedding(FILMS, K, sparse=True)
        for table in (self.user, self.film):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, u, f):
        return 3.5 + (self.user(u) * self.film(f)).sum(1)


model = Factors()
optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.02)
for epoch in range(4):
    for rows in torch.randperm(16000).split(256):
        loss = (model(pairs[rows, 0], pairs[rows, 1]) - stars[rows]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        held = (model(pairs[16000:, 0], pairs[16000:, 1]) - stars[16000:]).pow(2).mean().sqrt()
    print(epoch, loss.item(), "rmse", held.item())
