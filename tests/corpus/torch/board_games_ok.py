"""Matrix factorisation with biases for board game ratings. Raw ids are folded into a fixed number of slots."""
import numpy as np
import torch
import torch.nn as nn

SLOTS = 512
N_USERS, N_GAMES, RANK = 500, 300, 4


def simulate(n, seed=0):
    g = np.random.default_rng(seed)
    pu, qi = g.normal(0, 1, (N_USERS, RANK)), g.normal(0, 1, (N_GAMES, RANK))
    bu, bi = g.normal(0, 0.5, N_USERS), g.normal(0, 0.9, N_GAMES)
    users = g.integers(0, N_USERS, n)
    games = g.integers(0, N_GAMES, n)
    r = 6.5 + bu[users] + bi[games] + 0.6 * (pu[users] * qi[games]).sum(1) + g.normal(0, 0.3, n)
    return users, games, r.astype(np.float32)


class Ratings(torch.utils.data.Dataset):
    def __init__(self, users, games, r):
        self.users, self.games, self.r = map(torch.as_tensor, (users, games, r))

    def __len__(self):
        return len(self.r)

    def __getitem__(self, k):
        return self.users[k] % SLOTS, self.games[k] % SLOTS, self.r[k]


class Factors(nn.Module):
    def __init__(self, dim=8, mean=6.5):
        super().__init__()
        self.user_vec = nn.Embedding(SLOTS, dim)
        self.game_vec = nn.Embedding(SLOTS, dim)
        self.user_bias = nn.Embedding(SLOTS, 1)
        self.game_bias = nn.Embedding(SLOTS, 1)
        self.mean = mean
        for e in (self.user_vec, self.game_vec):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.user_bias, self.game_bias):
            nn.init.zeros_(e.weight)

    def forward(self, user, game):
        dot = (self.user_vec(user) * self.game_vec(game)).sum(-1)
        return self.mean + dot + self.user_bias(user).squeeze(-1) + self.game_bias(game).squeeze(-1)

    @torch.no_grad()
    def top(self, user, k=5):
        games = torch.arange(N_GAMES)
        return self(torch.full_like(games, user), games).topk(k).indices.tolist()


def rmse(model, users, games, r):
    with torch.no_grad():
        p = model(torch.as_tensor(users) % SLOTS, torch.as_tensor(games) % SLOTS)
    return float(((p - torch.as_tensor(r)) ** 2).mean().sqrt())


def fit(model, data, epochs=10, lr=1e-2):
    loader = torch.utils.data.DataLoader(data, batch_size=256, shuffle=True)
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for user, game, rating in loader:
            pred = model(user, game)
            loss = nn.functional.mse_loss(pred, rating)
            reg = 1e-4 * (model.user_vec(user).pow(2).sum(1).mean() + model.game_vec(game).pow(2).sum(1).mean())
            opt.zero_grad()
            (loss + reg).backward()
            opt.step()
            total += loss.item() * len(rating)
        yield epoch, (total / len(data)) ** 0.5


if __name__ == "__main__":
    torch.manual_seed(0)
    users, games, r = simulate(40000)
    cut = 36000
    held = users[cut:], games[cut:], r[cut:]
    model = Factors()
    for epoch, train_rmse in fit(model, Ratings(users[:cut], games[:cut], r[:cut])):
        print(f"epoch {epoch}: train rmse {train_rmse:.3f}, held-out rmse {rmse(model, *held):.3f}")
    print("spread of the held-out ratings:", round(float(held[2].std()), 3))
    print("for user 7:", model.top(7))
