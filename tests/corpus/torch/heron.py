from dataclasses import dataclass

import torch
from datasets import load_dataset
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModel, AutoTokenizer, get_linear_schedule_with_warmup


@dataclass
class Args:
    checkpoint: str = "assets/distilbert-mini"
    batch_size: int = 16
    eval_batch_size: int = 90
    epochs: int = 2
    body_lr: float = 6e-5
    head_lr: float = 1e-3
    n_train: int = 1600


class PairClassifier(nn.Module):
    def __init__(self, checkpoint, n_classes, dropout=0.1):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(checkpoint)
        width = self.encoder.config.dim
        self.head = nn.Sequential(nn.Dropout(dropout), nn.Linear(width, width), nn.GELU(), nn.Linear(width, n_classes))

    def forward(self, input_ids):
        hidden = self.encoder(input_ids=input_ids).last_hidden_state
        return self.head(hidden[:, 0])


def encode(rows, tokenizer):
    enc = tokenizer(list(rows["premise"]), list(rows["hypothesis"]), truncation=True)
    return [(torch.tensor(ids), y) for ids, y in zip(enc["input_ids"], rows["label"])]


def batches(samples, size, pad_id, by_length=False):
    if by_length:
        samples = sorted(samples, key=lambda s: len(s[0]))
    starts = list(range(0, len(samples), size))
    if by_length:
        starts = [starts[i] for i in torch.randperm(len(starts)).tolist()]
    for start in starts:
        ids, labels = zip(*samples[start:start + size])
        yield pad_sequence(ids, batch_first=True, padding_value=pad_id), torch.tensor(labels)


@torch.inference_mode()
def accuracy(model, samples, size, pad_id):
    model.eval()
    hits = sum((model(ids).argmax(-1) == y).sum().item() for ids, y in batches(samples, size, pad_id))
    return hits / len(samples)


def main():
    args = Args()
    torch.manual_seed(0)
    raw = load_dataset("assets/nli", "3_labels")
    tokenizer = AutoTokenizer.from_pretrained(args.checkpoint)
    train_set = encode(raw["train"].shuffle(seed=0).select(range(args.n_train)), tokenizer)
    valid_set = encode(raw["validation_matched"], tokenizer)
    pad = tokenizer.pad_token_id

    model = PairClassifier(args.checkpoint, n_classes=3)
    optimizer = torch.optim.AdamW([
        {"params": model.encoder.parameters(), "lr": args.body_lr},
        {"params": model.head.parameters(), "lr": args.head_lr},
    ], weight_decay=0.01)
    steps = args.epochs * -(-len(train_set) // args.batch_size)
    scheduler = get_linear_schedule_with_warmup(optimizer, int(0.06 * steps), steps)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for ids, y in batches(train_set, args.batch_size, pad, by_length=True):
            optimizer.zero_grad()
            loss = criterion(model(ids), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            total += loss.item()
        acc = accuracy(model, valid_set, args.eval_batch_size, pad)
        print(f"epoch {epoch}: loss {total * args.epochs / steps:.4f}  accuracy {acc:.3f}")


main()
