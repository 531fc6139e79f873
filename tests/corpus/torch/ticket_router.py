"""Route support tickets to a team with a small transformer encoder."""
import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader

TEAMS = ["billing", "network", "hardware", "accounts", "sales"]
OBJECTS = {
    "billing": ["invoice", "refund", "charge", "receipt"],
    "network": ["router", "wifi", "vpn", "latency"],
    "hardware": ["screen", "keyboard", "battery", "fan"],
    "accounts": ["password", "login", "profile", "email"],
    "sales": ["quote", "discount", "licence", "upgrade"],
}
NOISE = ["hello", "please", "my", "is", "since", "monday", "again", "thanks", "urgent", "the", "and", "we", "have"]
VOCAB = ["<pad>", "<cls>", "but"] + NOISE + sum(OBJECTS.values(), [])
WORD_ID = {w: i for i, w in enumerate(VOCAB)}


@dataclass
class Config:
    n_train: int = 2400
    n_test: int = 800
    d_model: int = 48
    heads: int = 4
    layers: int = 2
    batch: int = 32
    epochs: int = 6
    lr: float = 1e-3


def write_ticket(rng):
    # people mention several things, the real problem comes up more than once
    real, other = rng.sample(TEAMS, 2)
    words = [rng.choice(NOISE) for _ in range(rng.randint(4, 10))]
    words += rng.sample(OBJECTS[real], 2) + ["but", rng.choice(OBJECTS[other])]
    rng.shuffle(words)
    return [WORD_ID["<cls>"]] + [WORD_ID[w] for w in words], TEAMS.index(real)


def collate(batch):
    length = max(len(t) for t, _ in batch)
    tokens = torch.zeros(len(batch), length, dtype=torch.long)
    for row, (t, _) in enumerate(batch):
        tokens[row, : len(t)] = torch.tensor(t)
    return tokens, torch.tensor([team for _, team in batch])


class Router(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.word = nn.Embedding(len(VOCAB), cfg.d_model, padding_idx=0)
        self.place = nn.Parameter(torch.randn(1, 24, cfg.d_model) * 0.02)
        layer = nn.TransformerEncoderLayer(cfg.d_model, cfg.heads, 96, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, cfg.layers, enable_nested_tensor=False)
        self.out = nn.Linear(cfg.d_model, len(TEAMS))

    def forward(self, tokens):
        x = self.word(tokens) + self.place[:, : tokens.size(1)]
        x = self.encoder(x, src_key_padding_mask=tokens == 0)
        return self.out(x[:, 0])


def test_accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        right = sum((model(t).argmax(-1) == y).sum().item() for t, y in loader)
    return right / len(loader.dataset)


def main():
    cfg = Config()
    rng = random.Random(99)
    torch.manual_seed(99)
    train = DataLoader([write_ticket(rng) for _ in range(cfg.n_train)], cfg.batch, shuffle=True, collate_fn=collate)
    test = DataLoader([write_ticket(rng) for _ in range(cfg.n_test)], 128, collate_fn=collate)

    model = Router(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.85)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for tokens, team in train:
            optimizer.zero_grad()
            loss = criterion(model(tokens), team)
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/{cfg.epochs}  loss {total / len(train):.3f}  test acc {test_accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
