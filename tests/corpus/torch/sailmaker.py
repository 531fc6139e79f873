"""Character model of a sail loft's order book (small GPT-2, own loop)."""
from dataclasses import dataclass
import random

import torch
from transformers import GPT2Config, GPT2LMHeadModel


@dataclass
class Cfg:
    block: int = 48
    batch: int = 32
    steps: int = 240
    lr: float = 2e-3
    width: int = 64
    layers: int = 2
    heads: int = 4
    seed: int = 5


SAILS = {"jib": "dacron", "genoa": "mylar", "spinnaker": "nylon", "mainsail": "canvas", "staysail": "flax"}
BOATS = ["Petrel", "Marigold", "Old Tom", "Sula", "Kittiwake"]


def order(rng):
    sail = rng.choice(list(SAILS))
    return f"{rng.choice(BOATS)} wants a {sail} cut from {SAILS[sail]}. "


def corpus(n, seed):
    rng = random.Random(seed)
    return "".join(order(rng) for _ in range(n))


class CharTokens:
    def __init__(self, text):
        self.chars = sorted(set(text))
        self.index = {c: i for i, c in enumerate(self.chars)}

    def encode(self, text):
        return torch.tensor([self.index[c] for c in text])

    def decode(self, ids):
        return "".join(self.chars[i] for i in ids)


def get_batch(data, cfg):
    starts = torch.randint(0, len(data) - cfg.block - 1, (cfg.batch,))
    chunk = torch.stack([data[s:s + cfg.block + 1] for s in starts])
    return chunk[:, :-1], chunk[:, 1:]


@torch.no_grad()
def val_loss(model, data, cfg, rounds=8):
    model.eval()
    total = 0.0
    for _ in range(rounds):
        x, y = get_batch(data, cfg)
        total += model(input_ids=x, labels=y).loss.item()
    model.train()
    return total / rounds


@torch.no_grad()
def complete(model, tokens, prompt, n):
    model.eval()
    ids = tokens.encode(prompt)[None]
    for _ in range(n):
        nxt = model(input_ids=ids).logits[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, nxt], dim=1)
    model.train()
    return tokens.decode(ids[0, len(prompt):].tolist())


def cloth_score(model, tokens):
    right = 0
    for sail, cloth in SAILS.items():
        text = complete(model, tokens, f"Sula wants a {sail} cut from ", len(cloth) + 1)
        right += text == cloth + "."
    return right / len(SAILS)


def main():
    cfg = Cfg()
    torch.manual_seed(cfg.seed)
    text = corpus(1500, 1)
    tokens = CharTokens(text)
    train, val = tokens.encode(text), tokens.encode(corpus(200, 2))

    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(tokens.chars), n_positions=cfg.block * 2, n_embd=cfg.width, n_layer=cfg.layers,
        n_head=cfg.heads, bos_token_id=0, eos_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    ))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, betas=(0.9, 0.98), weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=cfg.lr, total_steps=cfg.steps)

    model.train()
    for step in range(1, cfg.steps + 1):
        x, y = get_batch(train, cfg)
        loss = model(input_ids=x, labels=y).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % 40 == 0:
            print(f"step {step}: train {loss.item():.3f}  val {val_loss(model, val, cfg):.3f}")

    print("sample:", complete(model, tokens, "Old Tom wants a ", 32))
    print(f"cloth right: {cloth_score(model, tokens):.2f}")


if __name__ == "__main__":
    main()
