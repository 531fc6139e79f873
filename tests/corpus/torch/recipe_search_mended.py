"""Two-tower retrieval: match a short query (bag of words) to a recipe vector with in-batch negatives."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Kitchen:
    """Synthetic recipes: a latent taste vector gives both the ingredient profile and the query words."""

    def __init__(self, n, taste=16, vocab=300, ingredients=60, seed=0):
        fixed = torch.Generator().manual_seed(1234)
        word_dirs = torch.randn(taste, vocab, generator=fixed)
        ingr_dirs = torch.randn(taste, ingredients, generator=fixed)
        g = torch.Generator().manual_seed(seed)
        z = torch.randn(n, taste, generator=g)
        self.recipes = torch.tanh(z @ ingr_dirs / 3) + 0.1 * torch.randn(n, ingredients, generator=g)
        logits = z @ word_dirs / 1.6
        words = torch.multinomial(logits.softmax(-1), 14, replacement=True, generator=g)
        self.queries = words


class QueryTower(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, 64, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, dim))

    def forward(self, words):
        return F.normalize(self.mlp(self.bag(words)), dim=-1)


class RecipeTower(nn.Module):
    def __init__(self, ingredients, dim):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(ingredients, 128), nn.ReLU(), nn.Linear(128, dim))

    def forward(self, x):
        return F.normalize(self.mlp(x), dim=-1)


def info_nce(q, r):
    scores = q @ r.t() / 0.07
    target = torch.arange(len(q))
    return 0.5 * (F.cross_entropy(scores, target) + F.cross_entropy(scores.t(), target))


@torch.no_grad()
def recall_at(q_tower, r_tower, data, k):
    sims = q_tower(data.queries) @ r_tower(data.recipes).t()
    top = sims.topk(k, dim=1).indices
    return (top == torch.arange(len(top))[:, None]).any(1).float().mean().item()


def main(dim=32, epochs=15, batch=128):
    torch.manual_seed(2)
    train, test = Kitchen(10000, seed=1), Kitchen(1000, seed=2)
    q_tower, r_tower = QueryTower(300, dim), RecipeTower(60, dim)
    params = list(q_tower.parameters()) + list(r_tower.parameters())
    opt = torch.optim.AdamW(params, lr=2e-3, weight_decay=1e-4)
    for ep in range(1, epochs + 1):
        order = torch.randperm(len(train.recipes))
        total, steps = 0.0, 0
        for idx in order.split(batch):
            loss = info_nce(q_tower(train.queries[idx]), r_tower(train.recipes[idx]))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            steps += 1
        print(f"epoch {ep:2d} loss {total / steps:.3f} recall@5 of 1000: {recall_at(q_tower, r_tower, test, 5):.3f}")


if __name__ == "__main__":
    main()
