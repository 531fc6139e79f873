import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments,
                          default_data_collator, set_seed)

N_NOTES = 24
N_STYLES = 4
BOS = N_NOTES + N_STYLES
VOCAB = BOS + 1
LENGTH = 20


def style_tables(seed=0):
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(N_STYLES):
        order = rng.permutation(N_NOTES)
        nxt = np.empty(N_NOTES, dtype=int)
        nxt[order] = np.roll(order, -1)
        tables.append(nxt)
    return tables


TABLES = style_tables()


def compose(rng):
    style = int(rng.integers(N_STYLES))
    note = int(rng.integers(N_NOTES))
    tune = [BOS, N_NOTES + style, note]
    while len(tune) < LENGTH:
        if rng.random() < 0.03:
            note = int(rng.integers(N_NOTES))
        else:
            note = int(TABLES[style][note])
        tune.append(note)
    return tune


class MelodyDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.tunes = [compose(rng) for _ in range(n)]

    def __len__(self):
        return len(self.tunes)

    def __getitem__(self, i):
        tune = self.tunes[i]
        return {
            "input_ids": torch.tensor(tune),
            "attention_mask": torch.ones(len(tune), dtype=torch.long),
            "labels": torch.tensor(tune),
        }


@torch.no_grad()
def continuation_accuracy(model, n=200, horizon=6):
    model.eval()
    rng = np.random.default_rng(77)
    styles = rng.integers(N_STYLES, size=n)
    notes = rng.integers(N_NOTES, size=n)
    ids = torch.tensor([[BOS, N_NOTES + s, k] for s, k in zip(styles, notes)])
    truth = []
    for s, k in zip(styles, notes):
        row = []
        for _ in range(horizon):
            k = TABLES[s][k]
            row.append(k)
        truth.append(row)
    out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=horizon,
                         do_sample=False, pad_token_id=BOS)
    return float((out[:, 3:].numpy() == np.array(truth)).mean())


def main():
    set_seed(13)
    config = GPT2Config(vocab_size=VOCAB, n_positions=32, n_embd=64, n_layer=2, n_head=4,
                        bos_token_id=BOS, eos_token_id=None, resid_pdrop=0.0, embd_pdrop=0.0,
                        attn_pdrop=0.0)
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=8, per_device_train_batch_size=32,
        learning_rate=3e-3, lr_scheduler_type="cosine", warmup_ratio=0.05, logging_steps=50,
        save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=MelodyDataset(1600, 1),
                      eval_dataset=MelodyDataset(200, 2), data_collator=default_data_collator)
    trainer.train()
    print("eval loss", round(trainer.evaluate()["eval_loss"], 4))
    print("continuation accuracy", round(continuation_accuracy(model), 3))


if __name__ == "__main__":
    main()
