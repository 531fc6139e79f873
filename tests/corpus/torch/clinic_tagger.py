"""
BiLSTM tagger for short clinical notes: DRUG / DOSE / SYMPTOM / O
(the notes are generated, the real ones are confidential)
"""
import random
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader

TAGS = ["O", "DRUG", "DOSE", "SYMPTOM"]
DRUGS = "aspirin ibuprofen metformin codeine insulin warfarin".split()
UNITS = "mg ml units".split()
SYMPTOMS = "headache nausea fever cough dizziness fatigue rash".split()
FILLER = "patient reports was given today and then with some mild after before for no the".split()


def make_note(rng):
    words, tags = [], []
    for _ in range(rng.randint(1, 5)):
        for _ in range(rng.randint(1, 4)):
            words.append(rng.choice(FILLER)), tags.append(0)
        kind = rng.random()
        if kind < 0.5:
            words.append(rng.choice(DRUGS)), tags.append(1)
            words.append(str(rng.randint(1, 20) * 5)), tags.append(2)
            words.append(rng.choice(UNITS)), tags.append(2)
        elif kind < 0.8:
            words.append(rng.choice(SYMPTOMS)), tags.append(3)
        else:  # a number that isn't a dose
            words.append(str(rng.randint(1, 20) * 5)), tags.append(0)
            words.append("days"), tags.append(0)
    return words, tags


def build_vocab(notes):
    vocab = {"<pad>": 0, "<unk>": 1}
    for words, _ in notes:
        for w in words:
            vocab.setdefault(w, len(vocab))
    return vocab


class Collate:
    def __init__(self, vocab):
        self.vocab = vocab

    def __call__(self, notes):
        tokens = [torch.tensor([self.vocab.get(w, 1) for w in ws]) for ws, _ in notes]
        tags = [torch.tensor(ts) for _, ts in notes]
        lengths = torch.tensor([len(t) for t in tokens])
        tokens = pad_sequence(tokens, batch_first=True, padding_value=0)
        tags = pad_sequence(tags, batch_first=True, padding_value=-100)
        # pack_padded_sequence wants the longest first
        lengths, order = lengths.sort(descending=True)
        tokens = tokens[order]
        return tokens, lengths, tags


class Tagger(nn.Module):
    def __init__(self, n_words, n_tags, emb=32, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(n_words, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, n_tags)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.emb(tokens), lengths, batch_first=True)
        out, _ = self.lstm(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return self.fc(out)


def entity_recall(model, loader):
    model.eval()
    found = total = 0
    with torch.no_grad():
        for tokens, lengths, tags in loader:
            pred = model(tokens, lengths).argmax(-1)
            entity = tags > 0
            found += (pred[entity] == tags[entity]).sum().item()
            total += entity.sum().item()
    return found / total


if __name__ == "__main__":
    torch.manual_seed(0)
    rng = random.Random(0)
    train_notes = [make_note(rng) for _ in range(1500)]
    dev_notes = [make_note(rng) for _ in range(300)]
    vocab = build_vocab(train_notes)
    collate = Collate(vocab)
    train_loader = DataLoader(train_notes, batch_size=32, shuffle=True, collate_fn=collate)
    dev_loader = DataLoader(dev_notes, batch_size=32, collate_fn=collate)

    model = Tagger(len(vocab), len(TAGS))
    ce = nn.CrossEntropyLoss(ignore_index=-100)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        model.train()
        total = 0.0
        for tokens, lengths, tags in train_loader:
            opt.zero_grad()
            scores = model(tokens, lengths)
            loss = ce(scores.transpose(1, 2), tags)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(train_loader):.3f}, dev entity recall {entity_recall(model, dev_loader):.3f}")
