"""Tiny recurrent language model with a second head that names the register of the text."""
import math
import random
import torch
from torch import nn

PAD, BOS, EOS = 0, 1, 2
REGISTERS = {
    "recipe": ("stir chop boil simmer fry".split(), "onion garlic rice butter soup".split()),
    "travel": ("visit see book reach leave".split(), "harbour museum train hotel island".split()),
    "office": ("send sign plan review print".split(), "report contract budget memo form".split()),
}
GLUE = "the a then and now with some".split()
WORDS = ["<pad>", "<s>", "</s>"] + GLUE + [w for v, n in REGISTERS.values() for w in v + n]
IDX = {w: i for i, w in enumerate(WORDS)}


def make_text(rng):
    reg = rng.randrange(3)
    verbs, nouns = list(REGISTERS.values())[reg]
    toks = []
    for k in range(rng.randint(1, 4)):
        toks += ([rng.choice(["and", "then", "now"])] if k else [])
        toks += [rng.choice(verbs), rng.choice(["the", "a", "some"]), rng.choice(nouns)]
    return [BOS] + [IDX[t] for t in toks] + [EOS], reg


def to_batch(rows):
    width = max(len(r[0]) for r in rows)
    ids = torch.tensor([r[0] + [PAD] * (width - len(r[0])) for r in rows])
    labels = ids.masked_fill(ids == PAD, -100)
    return ids, labels, torch.tensor([r[1] for r in rows])


class TwoHeads(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.emb = nn.Embedding(len(WORDS), dim)
        nn.init.normal_(self.emb.weight, std=0.05)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.lm = nn.Linear(dim, len(WORDS), bias=False)
        self.lm.weight = self.emb.weight
        self.reg = nn.Linear(dim, 3)

    def forward(self, ids, labels, register):
        h, _ = self.rnn(self.emb(ids))
        logits = self.lm(h)
        lm_sum = nn.functional.cross_entropy(
            logits[:, :-1].reshape(-1, len(WORDS)), labels[:, 1:].reshape(-1), ignore_index=-100, reduction="sum")
        count = (labels[:, 1:] != -100).sum()
        end = (ids != PAD).sum(1) - 1
        reg_logits = self.reg(h[torch.arange(len(ids)), end])
        return lm_sum / count, nn.functional.cross_entropy(reg_logits, register), reg_logits


def main():
    rng = random.Random(0)
    torch.manual_seed(0)
    train = [make_text(rng) for _ in range(1500)]
    test = to_batch([make_text(rng) for _ in range(400)])
    net = TwoHeads()
    opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
    for epoch in range(6):
        rng.shuffle(train)
        net.train()
        for i in range(0, len(train), 50):
            lm_loss, reg_loss, _ = net(*to_batch(train[i:i + 50]))
            opt.zero_grad()
            lm_loss.backward(retain_graph=True)
            (0.3 * reg_loss).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
        net.eval()
        with torch.inference_mode():
            lm_loss, _, reg_logits = net(*test)
        acc = (reg_logits.argmax(1) == test[2]).float().mean().item()
        print(f"epoch {epoch} perplexity {math.exp(lm_loss):.2f} register accuracy {acc:.3f}")
    flat = test[1][:, 1:].flatten()
    freq = torch.bincount(flat[flat != -100], minlength=len(WORDS)).float()
    p = freq / freq.sum()
    unigram = math.exp(-(p[p > 0] * p[p > 0].log()).sum())
    print(f"final perplexity {math.exp(lm_loss):.2f} (unigram {unigram:.2f}, uniform {len(WORDS)}) register accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
