import argparse
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

p = argparse.ArgumentParser()
p.add_argument("--steps", type=int, default=1200)
p.add_argument("--probe-epochs", type=int, default=200)
p.add_argument("--lr", type=float, default=3e-3)
p.add_argument("--width", type=int, default=48)
cfg = p.parse_args()
torch.manual_seed(13)

VOCAB, LENGTH, MASK = 10, 14, 10
STEPS = torch.tensor([1, 2, 4])        # the three "dialects": each goes through the alphabet in its own stride


def dialect_batch(n):
    kind = torch.randint(0, 3, (n,))
    start = torch.randint(0, VOCAB, (n, 1))
    seq = (start + STEPS[kind][:, None] * torch.arange(LENGTH)) % VOCAB
    typo = torch.rand(n, LENGTH) < 0.05
    seq = torch.where(typo, torch.randint(0, VOCAB, seq.shape), seq)
    return seq, kind


def mask_some(seq, rate=0.2):
    pick = torch.rand(seq.shape) < rate
    target = torch.where(pick, seq, torch.full_like(seq, -100))
    return seq.masked_fill(pick, MASK), target


class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.tok = nn.Embedding(VOCAB + 1, d)
        self.pos = nn.Parameter(torch.randn(LENGTH, 1, d) * 0.1)
        layer = nn.TransformerEncoderLayer(d, 4, 2 * d, dropout=0.0, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d)

    def forward(self, seq):
        x = self.tok(seq.t()) + self.pos
        return self.norm(self.blocks(x)).transpose(0, 1)


enc = Encoder(cfg.width)
lm_head = nn.Linear(cfg.width, VOCAB)
params = [*enc.parameters(), *lm_head.parameters()]
opt = torch.optim.AdamW(params, lr=cfg.lr, weight_decay=0.01)
warm = 80
sched = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda s: (s + 1) / warm if s < warm else 0.5 * (1 + math.cos(math.pi * (s - warm) / (cfg.steps - warm))))

print("pretraining: guess the hidden letters")
for step in range(1, cfg.steps + 1):
    seq, _ = dialect_batch(64)
    inp, target = mask_some(seq)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = lm_head(enc(inp))
    loss = F.cross_entropy(logits.float().reshape(-1, VOCAB), target.reshape(-1), ignore_index=-100)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    sched.step()
    if step % 150 == 0:
        hid = target != -100
        acc = (logits.argmax(-1)[hid] == target[hid]).float().mean()
        print(f"  step {step} lr {sched.get_last_lr()[0]:.5f} loss {loss.item():.3f} masked acc {acc:.3f}")

# linear probe on 150 labelled rows, the encoder stays as it is
enc.requires_grad_(False).eval()
probe = nn.Linear(cfg.width, 3)
nn.init.zeros_(probe.weight)
few_x, few_y = dialect_batch(150)
test_x, test_y = dialect_batch(2000)
with torch.no_grad():
    few_f, test_f = enc(few_x).mean(1), enc(test_x).mean(1)
popt = torch.optim.Adam(probe.parameters(), lr=0.05)
for epoch in range(cfg.probe_epochs):
    loss = F.cross_entropy(probe(few_f), few_y)
    popt.zero_grad()
    loss.backward()
    popt.step()
    if epoch % 40 == 39:
        print(f"  probe epoch {epoch + 1} loss {loss.item():.3f} test acc {(probe(test_f).argmax(1) == test_y).float().mean():.3f}")
