"""Teach a small GPT-2 to continue a counting pattern: 'start step count : a b c ...'.

Short tasks come first, only the answer is scored, output and input embeddings are shared.
"""
import math

import numpy as np
import torch
from torch.utils.data import Dataset, SequentialSampler
from transformers import (GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed)

BASE = 24                                    # all numbers are taken modulo BASE
PAD, COLON, END = BASE, BASE + 1, BASE + 2
VOCAB = BASE + 3
MAX_COUNT = 8
STEPS = [1, 2, 3, 5]


def make_task(start, step, count):
    prompt = [start, step, count, COLON]
    answer = [(start + step * (k + 1)) % BASE for k in range(count)] + [END]
    return prompt, answer


def all_tasks():
    tasks = [(a, s, c) for a in range(BASE) for s in STEPS for c in range(2, MAX_COUNT + 1)]
    order = np.random.default_rng(0).permutation(len(tasks))
    return [tasks[i] for i in order]


class Tasks(Dataset):
    """Several shuffled passes in one list; the longest count grows over the first half."""

    def __init__(self, tasks, passes=1, seed=0):
        rng = np.random.default_rng(seed)
        self.tasks = []
        for p in range(passes):
            limit = 3 + math.ceil((MAX_COUNT - 3) * (p + 1) / max(1, passes // 2))
            pool = [t for t in tasks if t[2] <= limit]
            self.tasks += [pool[i] for i in rng.permutation(len(pool))]

    def __len__(self):
        return len(self.tasks)

    def __getitem__(self, i):
        prompt, answer = make_task(*self.tasks[i])
        return {"input_ids": prompt + answer, "labels": [-100] * len(prompt) + answer}


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.full((len(rows), width), PAD)
    labels = torch.full((len(rows), width), -100)
    mask = torch.zeros(len(rows), width, dtype=torch.long)
    for k, row in enumerate(rows):
        n = len(row["input_ids"])
        ids[k, :n] = torch.tensor(row["input_ids"])
        labels[k, :n] = torch.tensor(row["labels"])
        mask[k, :n] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


class CurriculumTrainer(Trainer):
    def _get_train_sampler(self, train_dataset=None):
        return SequentialSampler(train_dataset if train_dataset is not None else self.train_dataset)


@torch.no_grad()
def exact_match(model, tasks):
    model.eval()
    right = 0
    prompts = torch.tensor([make_task(*t)[0] for t in tasks])
    out = model.generate(prompts, attention_mask=torch.ones_like(prompts), do_sample=False,
                         max_new_tokens=MAX_COUNT + 1, pad_token_id=PAD, eos_token_id=END)
    for row, task in zip(out[:, 4:].tolist(), tasks):
        answer = make_task(*task)[1]
        right += row[: len(answer)] == answer
    return right / len(tasks)


def main():
    set_seed(4)
    tasks = all_tasks()
    held_out, train_tasks = tasks[:130], tasks[130:]
    train = Tasks(train_tasks, passes=32, seed=1)
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=VOCAB, n_positions=24, n_embd=64, n_layer=2, n_head=4, bos_token_id=None,
        eos_token_id=END, tie_word_embeddings=True, resid_pdrop=0.0, embd_pdrop=0.0,
        attn_pdrop=0.0))
    print("exact match before training:", round(exact_match(model, held_out), 3))

    batch = 32
    total = math.ceil(len(train) / batch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.1)

    def shape(step):
        if step < 40:
            return (step + 1) / 40
        return max(0.02, 1 - (step - 40) / (total - 40))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, shape)
    args = TrainingArguments(
        output_dir="out/counting", num_train_epochs=1, per_device_train_batch_size=batch,
        max_grad_norm=0.5, logging_steps=60, save_strategy="no", report_to="none",
        disable_tqdm=True, use_cpu=True, seed=4)
    trainer = CurriculumTrainer(model=model, args=args, train_dataset=train,
                                data_collator=collate, optimizers=(optimizer, schedule))
    trainer.train()
    print("held-out tasks, exact match:", round(exact_match(model, held_out), 3))


if __name__ == "__main__":
    main()
