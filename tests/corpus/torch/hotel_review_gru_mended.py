"""Star-bucket prediction for hotel reviews with a small bidirectional GRU."""
import random
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence
from torch.utils.data import DataLoader

GOOD = "lovely clean spacious friendly superb quiet comfy delicious helpful bright".split()
BAD = "dirty rude noisy cramped broken smelly cold overpriced slow stained".split()
NEUTRAL = ("the room staff breakfast bed lobby pool view was were and we stayed for two nights "
           "near station our with a very it reception lift parking towels").split()
NEGATION = "not"
VOCAB = {w: i + 1 for i, w in enumerate(GOOD + BAD + NEUTRAL + [NEGATION])}


def write_review(rng):
    words, score = [], 0
    tone = rng.choice([0.15, 0.5, 0.85])
    for _ in range(rng.randint(8, 20)):
        r = rng.random()
        if r < 0.3:
            good = rng.random() < tone
            if rng.random() < 0.25:
                words.append(NEGATION)
                score += -1 if good else 1
            else:
                score += 1 if good else -1
            words.append(rng.choice(GOOD if good else BAD))
        else:
            words.append(rng.choice(NEUTRAL))
    label = 0 if score <= -2 else (2 if score >= 2 else 1)
    return words, label


def corpus(n, seed):
    rng = random.Random(seed)
    return [write_review(rng) for _ in range(n)]


def collate(batch):
    ids = [torch.tensor([VOCAB[w] for w in words]) for words, _ in batch]
    lengths = torch.tensor([len(i) for i in ids])
    labels = torch.tensor([lab for _, lab in batch])
    return pad_sequence(ids, batch_first=True), lengths, labels


class ReviewGRU(nn.Module):
    def __init__(self, vocab, dim=32, hidden=32, classes=3):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.gru = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, classes)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.fc(torch.cat([h[0], h[1]], dim=1))


class Runner:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

    def train_epoch(self, loader):
        self.model.train()
        seen, total = 0, 0.0
        for ids, lengths, labels in loader:
            logits = self.model(ids, lengths)
            loss = self.criterion(logits, labels)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(labels)
            seen += len(labels)
        return total / seen

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        right = seen = 0
        for ids, lengths, labels in loader:
            right += (self.model(ids, lengths).argmax(-1) == labels).sum().item()
            seen += len(labels)
        return right / seen


if __name__ == "__main__":
    torch.manual_seed(11)
    train, dev = corpus(3000, 0), corpus(800, 1)
    train_loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(dev, batch_size=200, collate_fn=collate)
    runner = Runner(ReviewGRU(len(VOCAB) + 1), lr=0.08)
    for ep in range(6):
        tl = runner.train_epoch(train_loader)
        print(f"epoch {ep} | loss {tl:.4f} | dev acc {runner.evaluate(dev_loader):.4f}")
    counts = [sum(l == k for _, l in dev) for k in range(3)]
    print(f"dev accuracy {runner.evaluate(dev_loader):.4f}, majority class {max(counts) / len(dev):.4f}")
