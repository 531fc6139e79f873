"""Tag ship names, ports and dates in harbour notices with a small BERT trained from scratch."""
from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import BertConfig, BertForTokenClassification

SHIPS = ["aurora", "northern star", "sea harrier", "maid of kent", "tamar", "iron duke", "lady anne", "white heather"]
PORTS = ["leith", "cork", "port talbot", "milford haven", "hull", "great yarmouth", "dover"]
MONTHS = ["march", "april", "june", "october"]
FRAMES = [
    "the {S} arrived at {P} on {D} with timber",
    "notice : {S} leaves {P} for {P} {D}",
    "on {D} the master of the {S} reported fog off {P}",
    "{P} harbour closed until {D}",
    "cargo of the {S} sold by auction",
    "wanted a cook for the {S} now lying in {P} , apply before {D} at the office",
]
TAGS = ["O", "B-SHIP", "I-SHIP", "B-PORT", "I-PORT", "B-DATE", "I-DATE"]


@dataclass
class Settings:
    seed: int = 3
    train_size: int = 700
    val_size: int = 150
    batch_size: int = 16
    epochs: int = 4
    lr: float = 1e-3
    warmup: int = 20
    max_norm: float = 1.0
    device: str = field(default_factory=lambda: "cuda" if torch.cuda.is_available() else "cpu")


def make_notice(rng: random.Random) -> tuple[list[str], list[str]]:
    words: list[str] = []
    tags: list[str] = []

    def add(text: str, kind: str) -> None:
        for i, w in enumerate(text.split()):
            words.append(w)
            tags.append(("B-" if i == 0 else "I-") + kind)

    for piece in rng.choice(FRAMES).split():
        if piece == "{S}":
            add(rng.choice(SHIPS), "SHIP")
        elif piece == "{P}":
            add(rng.choice(PORTS), "PORT")
        elif piece == "{D}":
            add(f"{rng.randint(1, 28)} {rng.choice(MONTHS)}", "DATE")
        else:
            words.append(piece)
            tags.append("O")
    return words, tags


class NoticeData(Dataset):
    def __init__(self, size: int, rng: random.Random, vocab: dict[str, int]) -> None:
        self.rows = []
        for _ in range(size):
            words, tags = make_notice(rng)
            ids = [vocab["[CLS]"]] + [vocab.setdefault(w, len(vocab)) for w in words]
            lab = [-100] + [TAGS.index(t) for t in tags]
            self.rows.append((torch.tensor(ids), torch.tensor(lab)))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> dict[str, torch.Tensor]:
        ids, lab = self.rows[i]
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": lab}


def pad_rows(rows: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    fill = {"input_ids": 0, "attention_mask": 0, "labels": -100}
    return {
        k: torch.nn.utils.rnn.pad_sequence([r[k] for r in rows], batch_first=True, padding_value=v)
        for k, v in fill.items()
    }


def build_loaders(cfg: Settings) -> tuple[DataLoader, DataLoader, int]:
    rng = random.Random(cfg.seed)
    vocab = {"[PAD]": 0, "[CLS]": 1}
    train_set = NoticeData(cfg.train_size, rng, vocab)
    val_set = NoticeData(cfg.val_size, rng, vocab)
    train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True, collate_fn=pad_rows)
    val_loader = DataLoader(val_set, batch_size=cfg.batch_size * 2)
    return train_loader, val_loader, len(vocab)


@torch.no_grad()
def evaluate(model: BertForTokenClassification, loader: DataLoader, device: str) -> dict[str, float]:
    model.eval()
    hit = total = entity_hit = entity_total = 0
    for batch in loader:
        batch = {k: v.to(device) for k, v in batch.items()}
        pred = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits.argmax(-1)
        keep = batch["labels"] != -100
        ok = (pred == batch["labels"]) & keep
        ent = keep & (batch["labels"] > 0)
        hit, total = hit + ok.sum().item(), total + keep.sum().item()
        entity_hit, entity_total = entity_hit + (ok & ent).sum().item(), entity_total + ent.sum().item()
    model.train()
    return {"token_acc": hit / total, "entity_recall": entity_hit / max(entity_total, 1)}


def fit(cfg: Settings, out: Path) -> dict[str, float]:
    torch.manual_seed(cfg.seed)
    train_loader, val_loader, vocab_size = build_loaders(cfg)
    model = BertForTokenClassification(BertConfig(
        vocab_size=vocab_size, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=40, num_labels=len(TAGS))).to(cfg.device)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / cfg.warmup))
    best: dict[str, float] = {"entity_recall": -1.0}
    for epoch in range(cfg.epochs):
        running = 0.0
        for batch in train_loader:
            batch = {k: v.to(cfg.device) for k, v in batch.items()}
            loss = model(**batch).loss
            opt.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), cfg.max_norm)
            opt.step()
            sched.step()
            running += loss.item()
        scores = evaluate(model, val_loader, cfg.device)
        print(f"epoch {epoch} loss {running / len(train_loader):.4f} " + " ".join(f"{k} {v:.3f}" for k, v in scores.items()))
        if scores["entity_recall"] > best["entity_recall"]:
            best = scores
            torch.save(model.state_dict(), out / "best.pt")
    return best


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as tmp:
        print("best", fit(Settings(), Path(tmp)))
