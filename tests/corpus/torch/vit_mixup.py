import argparse

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, confusion_matrix
from transformers import ViTConfig, ViTForImageClassification


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=700)
    p.add_argument("--per-class", type=int, default=6)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--decay", type=float, default=0.8)
    p.add_argument("--mixup", type=float, default=0.2)
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


def load(rng):
    data = load_digits()
    order = rng.permutation(len(data.target))
    x, y = data.images[order] / 16.0, data.target[order]
    x_test, y_test, x, y = x[:400], y[:400], x[400:], y[400:]
    by_class = np.argsort(y, kind="stable")
    x, y = x[by_class], y[by_class]
    mean, std = x.mean(), x.std()
    norm = lambda a: torch.tensor((a - mean) / std, dtype=torch.float32).unsqueeze(1)
    return norm(x), torch.tensor(y), norm(x_test), y_test


def balanced(y, per_class, steps, rng):
    """As many rows of each digit in every batch; rows are drawn from the digit's own block."""
    edges = np.searchsorted(y.numpy(), np.arange(11))
    for _ in range(steps):
        yield np.concatenate([rng.integers(edges[c], edges[c + 1], per_class) for c in range(10)])


def groups(model, lr, decay):
    """The nearer a layer is to the input, the smaller its steps."""
    depth = model.config.num_hidden_layers
    out = [{"params": list(model.classifier.parameters()) + list(model.vit.layernorm.parameters()), "lr": lr}]
    for k, layer in enumerate(model.vit.encoder.layer):
        out.append({"params": layer.parameters(), "lr": lr * decay ** (depth - k)})
    emb = model.vit.embeddings
    out.append({"params": [emb.cls_token, emb.position_embeddings], "lr": lr * decay ** (depth + 1)})
    return out


def main():
    a = parse()
    rng = np.random.default_rng(a.seed)
    torch.manual_seed(a.seed)
    x, y, x_test, y_test = load(rng)

    model = ViTForImageClassification(ViTConfig(
        image_size=8, patch_size=2, num_channels=1, hidden_size=64, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=128, num_labels=10, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        initializer_range=0.1))
    # random patch projection, as in MoCo v3
    model.vit.embeddings.patch_embeddings.requires_grad_(False)

    opt = torch.optim.AdamW(groups(model, a.lr, a.decay), weight_decay=0.05)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=[g["lr"] for g in opt.param_groups],
                                                total_steps=a.steps, pct_start=0.2)
    seen = []
    for step, rows in enumerate(balanced(y, a.per_class, a.steps, rng), 1):
        model.train()
        xb, tb = x[rows], F.one_hot(y[rows], 10).float()
        lam = rng.beta(a.mixup, a.mixup)
        perm = torch.randperm(len(xb))
        xb = lam * xb + (1 - lam) * xb[perm]
        tb = lam * tb + (1 - lam) * tb[perm]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(pixel_values=xb).logits
        loss = -(tb * F.log_softmax(logits.float(), dim=-1)).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        seen.append(loss.item())
        if step % 100 == 0:
            model.eval()
            with torch.no_grad():
                pred = model(pixel_values=x_test).logits.argmax(-1).numpy()
            print(f"step {step}: loss {np.mean(seen[-100:]):.3f}  test accuracy {accuracy_score(y_test, pred):.3f}")
    print(confusion_matrix(y_test, pred))


if __name__ == "__main__":
    main()
