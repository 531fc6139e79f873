from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass
class Config:
    length: int = 12
    dim: int = 48
    heads: int = 4
    layers: int = 2
    batch: int = 64
    epochs: int = 10
    lr: float = 1e-3
    n_train: int = 8000
    n_test: int = 1500


def make_split(n: int, length: int, gen: torch.Generator) -> tuple[Tensor, Tensor]:
    """Each series carries two marked steps; the class says whether their values have one sign."""
    values = torch.rand(n, length, generator=gen) * 2 - 1
    marks = torch.zeros(n, length)
    where = torch.rand(n, length, generator=gen).topk(2, dim=1).indices
    marks.scatter_(1, where, 1.0)
    picked = values.gather(1, where)
    y = (picked.prod(dim=1) > 0).long()
    return torch.stack([values, marks], dim=-1), y


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    @staticmethod
    def _swap(t: Tensor) -> Tensor:
        return t.transpose(0, 2)

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        q, k, v = (self._swap(t.reshape(b, n, self.heads, d // self.heads))
                   for t in self.qkv(x).chunk(3, dim=-1))
        att = (q @ k.transpose(-2, -1)) * (d // self.heads) ** -0.5
        y = att.softmax(dim=-1) @ v
        return self.out(self._swap(y).reshape(b, n, d))


class Block(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.att = Attention(dim, heads)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.att(self.n1(x))
        return x + self.ff(self.n2(x))


class SeriesClassifier(nn.Module):
    def __init__(self, cfg: Config) -> None:
        super().__init__()
        self.embed = nn.Linear(2, cfg.dim)
        self.pos = nn.Parameter(torch.randn(cfg.length, cfg.dim) * 0.02)
        self.blocks = nn.Sequential(*[Block(cfg.dim, cfg.heads) for _ in range(cfg.layers)])
        self.head = nn.Linear(cfg.dim, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.blocks(self.embed(x) + self.pos)
        return self.head(h.mean(dim=1))


def main(cfg: Config = Config()) -> None:
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    x, y = make_split(cfg.n_train, cfg.length, gen)
    xt, yt = make_split(cfg.n_test, cfg.length, gen)

    model = SeriesClassifier(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        model.train()
        running = 0.0
        for idx in torch.randperm(cfg.n_train, generator=gen).split(cfg.batch):
            loss = criterion(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            running += loss.item() * len(idx)
        model.eval()
        with torch.no_grad():
            pred = torch.cat([model(c).argmax(1) for c in xt.split(250)])
        print(f"epoch {epoch:2d} loss {running / cfg.n_train:.4f} test acc {(pred == yt).float().mean():.3f}")


if __name__ == "__main__":
    main()
