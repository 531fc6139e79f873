import argparse
import copy
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.metrics import average_precision_score, f1_score


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--micro-batch", type=int, default=4)
    p.add_argument("--accumulate", type=int, default=16)
    p.add_argument("--peak-lr", type=float, default=0.2)
    p.add_argument("--warmup", type=int, default=20)
    p.add_argument("--max-epochs", type=int, default=15)
    p.add_argument("--patience", type=int, default=3)
    p.add_argument("--n-labels", type=int, default=12)
    p.add_argument("--seed", type=int, default=5)
    return p.parse_args()


def simulate(n_docs, n_words, n_labels, seed):
    """Bag-of-words documents; every label brings its own handful of words, most labels are rare."""
    rng = np.random.default_rng(seed)
    prior = np.geomspace(0.25, 0.03, n_labels)
    tags = rng.random((n_docs, n_labels)) < prior
    topic_words = np.stack([rng.choice(n_words, 12, replace=False) for _ in range(n_labels)])
    rate = np.full((n_docs, n_words), 0.15)
    for k in range(n_labels):
        rate[np.ix_(tags[:, k], topic_words[k])] += 0.6
    counts = rng.poisson(rate)
    return np.log1p(counts).astype(np.float32), tags.astype(np.float32)


class TagModel(nn.Module):
    def __init__(self, n_words, n_labels, hidden=64):
        super().__init__()
        self.project = nn.Linear(n_words, hidden)
        self.drop = nn.Dropout(0.2)
        self.tags = nn.Linear(hidden, n_labels)

    def forward(self, bow):
        return self.tags(self.drop(torch.relu(self.project(bow))))


def schedule(step, warmup, total):
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))


def predict(model, x):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(x)
    model.train(was_training)
    return torch.sigmoid(logits).numpy()


def fit(model, loader, x_val, y_val, pos_weight, args):
    loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
    opt = torch.optim.SGD(model.parameters(), lr=args.peak_lr, momentum=0.9, nesterov=True)
    updates = args.max_epochs * math.ceil(len(loader) / args.accumulate)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: schedule(s, args.warmup, updates))
    best, best_state, bad = -1.0, None, 0
    model.train()
    for epoch in range(args.max_epochs):
        total = 0.0
        opt.zero_grad()
        for i, (x, y) in enumerate(loader, start=1):
            loss = loss_fn(model(x), y)
            (loss / args.accumulate).backward()
            total += loss.item()
            if i % args.accumulate == 0 or i == len(loader):
                opt.step()
                opt.zero_grad()
                sched.step()
        score = average_precision_score(y_val, predict(model, x_val), average="macro")
        print(f"[{epoch:02d}] loss {total / len(loader):.4f}  val mAP {score:.4f}  lr {sched.get_last_lr()[0]:.4f}")
        if score > best:
            best, best_state, bad = score, copy.deepcopy(model.state_dict()), 0
        else:
            bad += 1
            if bad >= args.patience:
                print("no improvement, stopping")
                break
    model.load_state_dict(best_state)
    return best


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    x, y = simulate(3600, 300, args.n_labels, args.seed)
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    x_tr, y_tr, x_va, y_va, x_te, y_te = x[:2600], y[:2600], x[2600:3000], y[2600:3000], x[3000:], y[3000:]
    positives = y_tr.sum(0)
    pos_weight = ((len(y_tr) - positives) / positives).sqrt()
    loader = DataLoader(TensorDataset(x_tr, y_tr), batch_size=args.micro_batch, shuffle=True)
    model = TagModel(x.shape[1], args.n_labels)
    fit(model, loader, x_va, y_va.numpy(), pos_weight, args)
    probs = predict(model, x_te)
    print(f"test mAP {average_precision_score(y_te.numpy(), probs, average='macro'):.4f} "
          f"(prevalence {y_te.mean().item():.4f})  micro F1 {f1_score(y_te.numpy(), probs > 0.5, average='micro'):.4f}")


if __name__ == "__main__":
    main()
