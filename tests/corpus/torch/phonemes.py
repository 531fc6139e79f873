import random
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

random.seed(3)
torch.manual_seed(3)

SYLLABLES = {
    "kavi": ["ka", "vi", "ta", "lo", "mu", "sha"],
    "oren": ["or", "en", "il", "ash", "um", "ta"],
    "sibu": ["si", "bu", "ng", "lo", "wa", "ri"],
}
LANGS = list(SYLLABLES)


def make_word():
    lang = random.choice(LANGS)
    return "".join(random.choice(SYLLABLES[lang]) for _ in range(random.randint(2, 5))), lang


words = [make_word() for _ in range(2400)]
chars = sorted({c for w, _ in words for c in w})
stoi = {c: i + 1 for i, c in enumerate(chars)}


class WordDataset(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        word, lang = self.rows[i]
        return torch.tensor([stoi[c] for c in word]), LANGS.index(lang)


class LangId(nn.Module):
    def __init__(self, vocab, dim=24, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.gru = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, len(LANGS))

    def forward(self, x):
        mask = (x != 0).unsqueeze(-1).float()
        h, _ = self.gru(self.emb(x))
        return self.out((h * mask).sum(1) / mask.sum(1))


train_loader = DataLoader(WordDataset(words[:2000]), batch_size=32, shuffle=True)
test_loader = DataLoader(WordDataset(words[2000:]), batch_size=32)

model = LangId(len(stoi) + 1)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(5):
    model.train()
    total = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch + 1} loss {total / len(train_loader):.4f} test acc {correct / 400:.3f}")
