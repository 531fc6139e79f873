"""Intent detection for a voice assistant: GRU over word ids, AdamW, linear warmup + decay."""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader
from transformers import get_linear_schedule_with_warmup

SEED = 2024
EPOCHS = 12
BATCH_SIZE = 64
LR = 2e-3
WARMUP_RATIO = 0.1
random.seed(SEED)
torch.manual_seed(SEED)

# the last verb that is not taken back decides: "play ... no wait ... pause" -> pause
VERBS = ["play", "pause", "dim", "brighten", "call", "text", "remind", "navigate"]
OBJECTS = ["song", "lamp", "kitchen", "mom", "album", "office", "radio", "tomorrow", "bedroom",
           "doctor", "playlist", "station", "home", "movie", "taxi"]
FILLER = ["please", "the", "could", "you", "now", "uhm", "hey", "for", "me", "to", "a"]
UNDO = ["scratch", "cancel"]
VOCAB = ["<pad>"] + VERBS + OBJECTS + FILLER + UNDO
STOI = {w: i for i, w in enumerate(VOCAB)}


def utterance():
    words, stack = [], []

    def noise():
        for _ in range(random.randint(0, 2)):
            words.append(random.choice(FILLER + OBJECTS))

    for _ in range(random.randint(1, 4)):
        noise()
        verb = random.randrange(len(VERBS))
        words.append(VERBS[verb])
        stack.append(verb)
        noise()
        if len(stack) > 1 and random.random() < 0.4:
            words.append(random.choice(UNDO))
            stack.pop()
    noise()
    return [STOI[w] for w in words], stack[-1]


def collate(items):
    seqs = [torch.tensor(s) for s, _ in items]
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, torch.tensor([l for _, l in items])


train_set = [utterance() for _ in range(5000)]
valid_set = [utterance() for _ in range(1000)]
train_loader = DataLoader(train_set, batch_size=BATCH_SIZE, shuffle=True, collate_fn=collate)
valid_loader = DataLoader(valid_set, batch_size=256, collate_fn=collate)


class IntentGRU(nn.Module):
    def __init__(self, emb=48, hidden=96):
        super().__init__()
        self.emb = nn.Embedding(len(VOCAB), emb, padding_idx=0)
        self.gru = nn.GRU(emb, hidden, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(hidden, len(VERBS))

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.out(self.drop(h[-1]))


model = IntentGRU()
criterion = nn.CrossEntropyLoss()
no_decay = [p for n, p in model.named_parameters() if "bias" in n]
decay = [p for n, p in model.named_parameters() if "bias" not in n]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01},
                               {"params": no_decay, "weight_decay": 0.0}], lr=LR)
num_training_steps = len(train_loader) * EPOCHS
scheduler = get_linear_schedule_with_warmup(
    optimizer,
    num_warmup_steps=int(WARMUP_RATIO * num_training_steps),
    num_training_steps=num_training_steps,
)


def evaluate():
    model.eval()
    correct = 0
    with torch.no_grad():
        for ids, lengths, y in valid_loader:
            correct += (model(ids, lengths).argmax(1) == y).sum().item()
    return correct / len(valid_set)


for epoch in range(1, EPOCHS + 1):
    model.train()
    loss_sum = 0.0
    for ids, lengths, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(ids, lengths), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        loss_sum += loss.item()
    print(f"Epoch {epoch:2d} - train loss: {loss_sum / len(train_loader):.4f} - valid acc: {evaluate():.4f}")

counts = torch.bincount(torch.tensor([l for _, l in valid_set]))
print(f"Validation accuracy: {evaluate():.4f} (most frequent intent: {counts.max().item() / len(valid_set):.4f})")
