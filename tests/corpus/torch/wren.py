import math
import random
from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader, Dataset
from transformers import AutoModelForCausalLM, GPT2Config, get_cosine_schedule_with_warmup


@dataclass
class TrainConfig:
    block: int = 64
    batch_size: int = 24
    epochs: int = 3
    lr: float = 1e-3
    weight_decay: float = 0.1
    warmup_steps: int = 10_000
    grad_clip: float = 1.0
    seed: int = 11


def make_corpus(n, rng):
    verbs = ["opened", "closed", "rotated", "archived", "moved"]
    things = ["ledger", "session", "index", "volume", "snapshot"]
    lines = []
    for _ in range(n):
        k = rng.randint(1, 9)
        thing = rng.choice(things) + ("s" if k > 1 else "")
        lines.append(f"node{rng.randint(1, 4)} {rng.choice(verbs)} {k} {thing} on port {8000 + k}.\n")
    return "".join(lines)


class Blocks(Dataset):
    def __init__(self, text, vocab, block):
        ids = torch.tensor([vocab[c] for c in text])
        self.ids = ids[: len(ids) // block * block].view(-1, block)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return self.ids[i]


@torch.no_grad()
def perplexity(model, loader):
    model.eval()
    total, n = 0.0, 0
    for ids in loader:
        total += model(input_ids=ids, labels=ids).loss.item() * len(ids)
        n += len(ids)
    return math.exp(total / n)


def main(cfg):
    torch.manual_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    train_text, valid_text = make_corpus(2000, rng), make_corpus(200, rng)
    vocab = {c: i for i, c in enumerate(sorted(set(train_text)))}
    train = DataLoader(Blocks(train_text, vocab, cfg.block), cfg.batch_size, shuffle=True, drop_last=True)
    valid = DataLoader(Blocks(valid_text, vocab, cfg.block), 64)

    model = AutoModelForCausalLM.from_config(
        GPT2Config(vocab_size=len(vocab), n_positions=cfg.block, n_embd=96, n_layer=2, n_head=4,
                   bos_token_id=0, eos_token_id=0))
    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": cfg.weight_decay},
                                   {"params": rest, "weight_decay": 0.0}], lr=cfg.lr, betas=(0.9, 0.95))
    scheduler = get_cosine_schedule_with_warmup(
        optimizer, num_warmup_steps=cfg.warmup_steps, num_training_steps=cfg.epochs * len(train))

    for epoch in range(cfg.epochs):
        model.train()
        running = 0.0
        for ids in train:
            loss = model(input_ids=ids, labels=ids).loss
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), cfg.grad_clip)
            optimizer.step()
            scheduler.step()
            running += loss.item()
        print(f"epoch {epoch + 1} train loss {running / len(train):.3f} valid ppl {perplexity(model, valid):.2f}")


if __name__ == "__main__":
    main(TrainConfig())
