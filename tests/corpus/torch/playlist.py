import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

N_SONGS = 60
PAD = 0
MAX_LEN = 20
set_seed(77)
rng = np.random.default_rng(77)
follow_up = np.concatenate([[0], rng.permutation(np.arange(1, N_SONGS + 1))])


def session(rng):
    length = rng.integers(8, MAX_LEN + 1)
    songs = [int(rng.integers(1, N_SONGS + 1))]
    while len(songs) < length:
        nxt = follow_up[songs[-1]] if rng.random() < 0.85 else rng.integers(1, N_SONGS + 1)
        songs.append(int(nxt))
    return songs


class Sessions(Dataset):
    def __init__(self, n, rng):
        self.rows = [session(rng) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        gap = MAX_LEN - len(row)
        return {
            "input_ids": torch.tensor(row + [PAD] * gap),
            "attention_mask": torch.tensor([1] * len(row) + [0] * gap),
            "labels": torch.tensor(row + [-100] * gap),
        }


def keep_best(logits, labels):
    return logits.argmax(dim=-1)


def hit_rate(eval_pred):
    guesses, songs = eval_pred
    played = songs != -100
    return {"hit_at_1": float((guesses[played] == songs[played]).mean())}


model = GPT2LMHeadModel(GPT2Config(vocab_size=N_SONGS + 1, n_positions=MAX_LEN, n_embd=64, n_layer=2, n_head=4,
                                   bos_token_id=PAD, eos_token_id=PAD, pad_token_id=PAD))

args = TrainingArguments(
    output_dir="playlist_out",
    per_device_train_batch_size=32,
    num_train_epochs=8,
    learning_rate=2e-3,
    warmup_ratio=0.1,
    eval_strategy="epoch",
    save_strategy="epoch",
    save_total_limit=1,
    load_best_model_at_end=True,
    metric_for_best_model="eval_loss",
    logging_steps=50,
    report_to="none",
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=Sessions(1500, rng),
    eval_dataset=Sessions(300, rng),
    compute_metrics=hit_rate,
    preprocess_logits_for_metrics=keep_best,
)
trainer.train()
print(trainer.evaluate())
