# LSTM over made-up "reviews"; small batches, so gradients are collected over four of them
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

random.seed(3)
torch.manual_seed(3)
GOOD, BAD = list(range(2, 22)), list(range(22, 42))
NEUTRAL = list(range(42, 120))


class Reviews(Dataset):
    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            label = random.randint(0, 1)
            words = random.choices(NEUTRAL, k=random.randint(5, 18)) + random.choices(GOOD if label else BAD, k=3)
            random.shuffle(words)
            self.rows.append((torch.tensor(words), label))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(batch):
    batch.sort(key=lambda row: len(row[0]), reverse=True)
    ids = [row[0] for row in batch]
    return pad_sequence(ids, batch_first=True), torch.tensor([len(i) for i in ids]), torch.tensor([row[1] for row in batch])


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(120, 32, padding_idx=0)
        self.rnn = nn.LSTM(32, 48, batch_first=True, bidirectional=True)
        self.out = nn.Linear(96, 1)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True)
        _, (h, _) = self.rnn(packed)
        return self.out(torch.cat([h[0], h[1]], dim=1)).squeeze(1)


train = DataLoader(Reviews(1600), batch_size=8, shuffle=True, collate_fn=collate)
test = DataLoader(Reviews(300), batch_size=50, collate_fn=collate)
model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
bce = nn.BCEWithLogitsLoss()
accumulate = 4
for epoch in range(4):
    model.train()
    optimizer.zero_grad()
    for step, (ids, lengths, labels) in enumerate(train):
        loss = bce(model(ids, lengths), labels.float()) / accumulate
        loss.backward()
        if (step + 1) % accumulate == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    right = 0
    with torch.no_grad():
        for ids, lengths, labels in test:
            right += ((model(ids, lengths) > 0).long() == labels).sum().item()
    print(epoch, right / 300)
