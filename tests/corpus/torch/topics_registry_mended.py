"""Multi-label topic tagger on bag-of-words documents; parts are picked from small registries."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.metrics import f1_score

MODELS, OPTIMS, SCHEDULES = {}, {}, {}


def register(table, name):
    def deco(fn):
        table[name] = fn
        return fn
    return deco


@register(MODELS, "bow_mlp")
def bow_mlp(cfg):
    return nn.Sequential(
        nn.Linear(cfg["vocab"], cfg["hidden"]),
        nn.ReLU(),
        nn.Dropout(0.1),
        nn.Linear(cfg["hidden"], cfg["topics"]),
    )


@register(OPTIMS, "adamw")
def adamw(params, cfg):
    return torch.optim.AdamW(params, lr=cfg["lr"], weight_decay=1e-4)


@register(SCHEDULES, "warmup_linear")
def warmup_linear(opt, cfg, total):
    warm = int(cfg["warmup"] * total)

    def lr_at(step):
        if step < warm:
            return (step + 1) / warm
        return max(0.0, (total - step) / (total - warm))

    return torch.optim.lr_scheduler.LambdaLR(opt, lr_at)


def make_documents(cfg, n, seed):
    world = np.random.default_rng(11)
    base = world.dirichlet(np.full(cfg["vocab"], 0.5))
    topic_words = world.dirichlet(np.full(cfg["vocab"], 0.05), size=cfg["topics"])
    rng = np.random.default_rng(seed)
    tags = (rng.random((n, cfg["topics"])) < 0.25).astype("float32")
    docs = np.zeros((n, cfg["vocab"]), dtype="float32")
    for i in range(n):
        mix = 0.5 * base + 0.5 * (tags[i] @ topic_words) / max(tags[i].sum(), 1)
        docs[i] = rng.multinomial(60, mix / mix.sum())
    return torch.tensor(np.log1p(docs)), torch.tensor(tags)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, y).item()
    pred = (logits > 0).int().numpy()
    return loss, f1_score(y.int().numpy(), pred, average="micro", zero_division=0)


def main():
    cfg = {
        "model": "bow_mlp", "optim": "adamw", "schedule": "warmup_linear",
        "vocab": 400, "topics": 8, "hidden": 128,
        "lr": 3e-3, "warmup": 0.1, "epochs": 12, "batch": 64,
    }
    torch.manual_seed(0)
    xtr, ytr = make_documents(cfg, 2400, 1)
    xte, yte = make_documents(cfg, 600, 2)
    loader = DataLoader(TensorDataset(xtr, ytr), batch_size=cfg["batch"], shuffle=True)

    model = MODELS[cfg["model"]](cfg)
    opt = OPTIMS[cfg["optim"]](model.parameters(), cfg)
    sched = SCHEDULES[cfg["schedule"]](opt, cfg, cfg["epochs"] * len(loader))
    criterion = nn.BCEWithLogitsLoss()

    for epoch in range(cfg["epochs"]):
        model.train()
        running = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            opt.step()
            sched.step()
            running += loss.item() * len(xb)
        vl, f1 = evaluate(model, xte, yte)
        print(f"epoch {epoch:2d} train {running / len(xtr):.4f} val {vl:.4f} f1 {f1:.3f}")
    print(f"final test loss {vl:.4f} micro-F1 {f1:.3f}")


if __name__ == "__main__":
    main()
