"""Tiny GPT-2 on a made-up move language; labels are the inputs themselves, own schedule and own optimizer."""
import math

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

PIECES = ["K", "Q", "R", "B", "N", "P"]
SQUARES = [f"{f}{r}" for f in "abcd" for r in "1234"]
VOCAB = ["<bos>", "<pad>"] + PIECES + SQUARES
IDX = {w: i for i, w in enumerate(VOCAB)}
GAME_LEN = 24


def games(n, rng):
    """Pieces take turns in a fixed cycle; each piece moves by its own fixed step on a ring of squares."""
    step = {p: i + 1 for i, p in enumerate(PIECES)}
    rows = []
    for _ in range(n):
        where = {p: int(rng.integers(len(SQUARES))) for p in PIECES}
        k = int(rng.integers(len(PIECES)))
        tokens = ["<bos>"]
        for _ in range(GAME_LEN):
            p = PIECES[k % len(PIECES)]
            where[p] = (where[p] + step[p]) % len(SQUARES)
            tokens += [p, SQUARES[where[p]]]
            k += 1
        rows.append(torch.tensor([IDX[t] for t in tokens]))
    return rows


def collate(rows):
    ids = torch.stack(rows)
    return {"input_ids": ids, "labels": ids}


def metrics(p):
    guess, gold = p.predictions[:, :-1], p.label_ids[:, 1:]
    half = gold.shape[1] // 2
    return {"next_token": float((guess == gold).mean()), "second_half": float((guess == gold)[:, half:].mean())}


def main():
    set_seed(40)
    rng = np.random.default_rng(40)
    config = GPT2Config(vocab_size=len(VOCAB), n_positions=64, n_embd=64, n_layer=2, n_head=4,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)
    model = GPT2LMHeadModel(config)
    steps, warm = 700, 60
    matrices = [p for p in model.parameters() if p.ndim >= 2]
    vectors = [p for p in model.parameters() if p.ndim < 2]
    opt = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                            lr=4e-3, betas=(0.9, 0.95))

    def factor(s):
        return s / warm if s < warm else 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (s - warm) / (steps - warm)))

    schedule = torch.optim.lr_scheduler.LambdaLR(opt, factor)
    args = TrainingArguments(output_dir="out", max_steps=steps, per_device_train_batch_size=32,
                             per_device_eval_batch_size=100, logging_steps=70, eval_strategy="steps", eval_steps=175,
                             save_strategy="no", remove_unused_columns=False, report_to=[], disable_tqdm=True,
                             use_cpu=True)
    trainer = Trainer(model, args, data_collator=collate, train_dataset=games(8000, rng), eval_dataset=games(300, rng),
                      compute_metrics=metrics, optimizers=(opt, schedule),
                      preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1))
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
