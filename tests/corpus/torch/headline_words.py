import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(4)
SPORT = "match goal league striker coach season referee final cup derby".split()
MONEY = "stocks market shares bank profit inflation bonds rates budget merger".split()
OTHER = "after before with over new old first last big small".split()


def headline():
    label = random.randint(0, 1)
    words = random.choices(MONEY if label else SPORT, k=3) + random.choices(OTHER, k=5)
    random.shuffle(words)
    return " ".join(word.upper() for word in words), label


headlines = [headline() for _ in range(1500)]
vocabulary = {"<pad>": 0, "<unk>": 1}
for word in SPORT + MONEY + OTHER:
    vocabulary.setdefault(word, len(vocabulary))


class Headlines(Dataset):
    def __len__(self):
        return len(headlines)

    def __getitem__(self, i):
        text, label = headlines[i]
        return torch.tensor([vocabulary.get(w, 1) for w in text.split()]), label


torch.manual_seed(4)
model = nn.Sequential(nn.EmbeddingBag(len(vocabulary), 16), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    for ids, labels in DataLoader(Headlines(), batch_size=50, shuffle=True):
        loss = nn.functional.cross_entropy(model(ids), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
