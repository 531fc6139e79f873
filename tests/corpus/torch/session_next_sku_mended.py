#!/usr/bin/env python
"""Next-item model over shop sessions, GPT-2 style; reports hit rate of the next SKU."""
import argparse
import resource
import time

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--catalogue", type=int, default=4000)
    ap.add_argument("--active", type=int, default=150)
    ap.add_argument("--length", type=int, default=40)
    ap.add_argument("--n-train", type=int, default=700)
    ap.add_argument("--n-eval", type=int, default=900)
    ap.add_argument("--epochs", type=float, default=4)
    ap.add_argument("--lr", type=float, default=4e-3)
    return ap.parse_args()


class Sessions(torch.utils.data.Dataset):
    def __init__(self, n, length, active, follow, rng):
        rows = np.empty((n, length), dtype=np.int64)
        for i in range(n):
            cur = rng.integers(len(active))
            for t in range(length):
                rows[i, t] = active[cur]
                cur = follow[cur] if rng.random() < 0.8 else rng.integers(len(active))
        self.rows = torch.from_numpy(rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"input_ids": self.rows[i], "labels": self.rows[i]}


def hit_rate(ev):
    preds = ev.predictions[0] if isinstance(ev.predictions, tuple) else ev.predictions
    if preds.ndim == 3:
        preds = preds.argmax(-1)
    return {"hit@1": float((preds[:, :-1] == ev.label_ids[:, 1:]).mean())}


def main():
    a = parse()
    set_seed(0)
    rng = np.random.default_rng(42)
    active = rng.choice(np.arange(1, a.catalogue), size=a.active, replace=False)
    follow = rng.permutation(a.active)
    train = Sessions(a.n_train, a.length, active, follow, rng)
    held = Sessions(a.n_eval, a.length, active, follow, rng)

    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=a.catalogue, n_positions=a.length, n_embd=32, n_layer=1, n_head=2,
        bos_token_id=0, eos_token_id=0, use_cache=False, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    args = TrainingArguments(
        output_dir="out", num_train_epochs=a.epochs, learning_rate=a.lr,
        per_device_train_batch_size=16, per_device_eval_batch_size=25, lr_scheduler_type="cosine",
        logging_steps=40, save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train,
        eval_dataset=held,
        compute_metrics=hit_rate,
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
    )
    trainer.train()
    t0 = time.time()
    res = trainer.evaluate()
    print(f"hit@1 {res['eval_hit@1']:.3f}  loss {res['eval_loss']:.3f}  evaluated in {time.time() - t0:.1f}s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
