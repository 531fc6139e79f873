"""Sort short radio messages into five desks. First the encoder reads unlabelled messages (masked words),
then a classifier is trained on the few labelled ones."""
import random
import tempfile
from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification,
                          get_cosine_schedule_with_warmup)

DESKS = {
    "fire": "smoke flames hose alarm burning ladder".split(),
    "harbour": "ship dock tide cargo anchor crane".split(),
    "road": "crash lane truck detour bridge signal".split(),
    "weather": "storm hail wind flood frost cloud".split(),
    "medical": "nurse fever ambulance clinic wound pulse".split(),
}
FILLER = "unit reports near the old north south two now please copy over from station again at".split()


@dataclass
class Settings:
    seed: int = 29
    unlabelled: int = 1500
    labelled: int = 800
    test: int = 300
    batch_size: int = 32
    pretrain_epochs: int = 2
    epochs: int = 8
    lr_pretrain: float = 1e-3
    lr: float = 7e-4
    mask_rate: float = 0.15


class Messages:
    pad, cls, mask = 0, 1, 2

    def __init__(self, seed):
        self.rng = random.Random(seed)
        words = FILLER + [w for group in DESKS.values() for w in group]
        self.ids = {w: i + 3 for i, w in enumerate(words)}
        self.size = len(words) + 3

    def draw(self, n):
        names = list(DESKS)
        rows = []
        for _ in range(n):
            label = self.rng.randrange(len(names))
            words = self.rng.choices(FILLER, k=self.rng.randint(6, 12))
            for word in self.rng.sample(DESKS[names[label]], 2):
                words.insert(self.rng.randrange(len(words)), word)
            if self.rng.random() < 0.3:
                words.append(self.rng.choice(DESKS[self.rng.choice(names)]))
            rows.append((words, label))
        return rows

    def collate(self, rows):
        seqs = [[self.cls] + [self.ids[w] for w in words] for words, _ in rows]
        longest = max(len(s) for s in seqs)
        ids = torch.tensor([s + [self.pad] * (longest - len(s)) for s in seqs])
        return {"input_ids": ids, "attention_mask": (ids != self.pad).long(),
                "labels": torch.tensor([label for _, label in rows])}


def encoder_config(vocab_size):
    return BertConfig(vocab_size=vocab_size, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                      intermediate_size=128, max_position_embeddings=32, num_labels=len(DESKS))


def read_unlabelled(messages, cfg):
    model = BertForMaskedLM(encoder_config(messages.size))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr_pretrain)
    loader = DataLoader(messages.draw(cfg.unlabelled), cfg.batch_size, shuffle=True, collate_fn=messages.collate)
    for epoch in range(cfg.pretrain_epochs):
        total = 0.0
        for batch in loader:
            ids = batch["input_ids"].clone()
            chosen = (torch.rand(ids.shape) < cfg.mask_rate) & (ids > 2)
            labels = ids.masked_fill(~chosen, -100)
            ids[chosen] = messages.mask
            loss = model(input_ids=ids, attention_mask=batch["attention_mask"], labels=labels).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"masked words, epoch {epoch + 1}: {total / len(loader):.3f}")
    folder = tempfile.mkdtemp()
    model.save_pretrained(folder)
    return folder


class DeskClassifier:
    def __init__(self, messages, cfg):
        self.cfg = cfg
        self.model = BertForSequenceClassification(encoder_config(messages.size))
        self.train_loader = DataLoader(messages.draw(cfg.labelled), cfg.batch_size, shuffle=True,
                                       collate_fn=messages.collate)
        self.test_loader = DataLoader(messages.draw(cfg.test), 100, collate_fn=messages.collate)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, weight_decay=0.01)
        steps = cfg.epochs * len(self.train_loader)
        self.scheduler = get_cosine_schedule_with_warmup(self.optimizer, steps // 20, steps)

    def warm_start(self, folder):
        self.model = BertForSequenceClassification.from_pretrained(folder, num_labels=len(DESKS))

    def fit(self):
        for epoch in range(self.cfg.epochs):
            self.model.train()
            total = 0.0
            for batch in self.train_loader:
                self.optimizer.zero_grad()
                loss = self.model(**batch).loss
                loss.backward()
                self.optimizer.step()
                self.scheduler.step()
                total += loss.item()
            print(f"epoch {epoch + 1}: loss {total / len(self.train_loader):.3f}  test {self.accuracy():.3f}")

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        right = [(self.model(input_ids=b["input_ids"], attention_mask=b["attention_mask"]).logits.argmax(-1)
                  == b["labels"]).float() for b in self.test_loader]
        return torch.cat(right).mean().item()


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    messages = Messages(cfg.seed)
    classifier = DeskClassifier(messages, cfg)
    classifier.warm_start(read_unlabelled(messages, cfg))
    classifier.fit()


if __name__ == "__main__":
    main()
