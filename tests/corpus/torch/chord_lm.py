"""Next-chord language model (GPT-2 from config), warmed up on short loops, then on whole tunes."""
import math

import numpy as np
import torch
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel, set_seed

CHORDS = ["C", "Dm", "Em", "F", "G", "Am", "D7", "E7"]
PHASES = [{"bars": 8, "epochs": 2, "lr": 3e-3}, {"bars": 32, "epochs": 4, "lr": 3e-3}]


def transition_table(rng):
    return rng.dirichlet(np.full(len(CHORDS), 0.12), size=(len(CHORDS), len(CHORDS)))


def write_tunes(n, bars, table, rng):
    tunes = np.zeros((n, bars), dtype=np.int64)
    tunes[:, :2] = rng.integers(0, len(CHORDS), size=(n, 2))
    cdf = table.cumsum(-1)
    for t in range(2, bars):
        u = rng.random(n)[:, None]
        tunes[:, t] = (u > cdf[tunes[:, t - 2], tunes[:, t - 1]]).sum(1).clip(max=len(CHORDS) - 1)
    return torch.from_numpy(tunes)


def best_possible(tunes, table):
    t = tunes.numpy()
    p = table[t[:, :-2], t[:, 1:-1], t[:, 2:]]
    first = math.log(len(CHORDS))
    return float((first - np.log(np.maximum(p, 1e-12)).sum(1)).mean() / (t.shape[1] - 1))


@torch.inference_mode()
def nats_per_chord(model, tunes):
    return float(np.mean([model(input_ids=b, labels=b).loss.item() for b in tunes.split(100)]))


def main():
    set_seed(12)
    rng = np.random.default_rng(12)
    table = transition_table(rng)
    config = GPT2Config(vocab_size=len(CHORDS), n_positions=32, n_embd=48, n_layer=2, n_head=4,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                        bos_token_id=0, eos_token_id=0, use_cache=False)
    model = GPT2LMHeadModel(config).eval()
    print("parameters:", sum(p.numel() for p in model.parameters()))

    for phase in PHASES:
        corpus = write_tunes(2400, phase["bars"], table, rng)
        loader = DataLoader(corpus, batch_size=48, shuffle=True)
        opt = torch.optim.AdamW(model.parameters(), lr=phase["lr"], weight_decay=0.0)
        decay = torch.optim.lr_scheduler.LambdaLR(
            opt, lambda s, n=phase["epochs"] * len(loader): max(0.05, 1 - s / n))
        for epoch in range(phase["epochs"]):
            seen = []
            for tune in loader:
                for p in model.parameters():
                    p.grad = None
                out = model(input_ids=tune, labels=tune)
                out.loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                decay.step()
                seen.append(out.loss.item())
            print(f"bars {phase['bars']:2d} epoch {epoch + 1} loss {np.mean(seen):.4f}")

    test = write_tunes(500, 32, table, np.random.default_rng(77))
    print(f"test loss {nats_per_chord(model, test):.4f}  uniform {math.log(len(CHORDS)):.4f}  "
          f"lower bound {best_possible(test, table):.4f}")


if __name__ == "__main__":
    main()
