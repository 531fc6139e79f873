# Next-note model: tiny GPT-2 with tied embeddings, Adafactor and accumulated gradients in the HF Trainer.
import math

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(31)
SCALE = [0, 2, 4, 5, 7, 9, 11]
CHORDS = [[0, 2, 4], [3, 5, 0], [4, 6, 1], [5, 0, 2]]
VOCAB, BARS, PER_BAR = 40, 8, 4
BOS = 0


def tune(rng):
    """Chord loop in one of several keys; notes follow the chord with small leaps, bars 5-8 repeat 1-4."""
    key = int(rng.integers(0, 10))
    order = rng.permutation(4)
    bars = []
    for b in range(BARS // 2):
        chord = CHORDS[order[b]]
        bar = []
        for k in range(PER_BAR):
            degree = chord[k % 3] if rng.random() < 0.85 else int(rng.integers(0, 7))
            octave = 12 if rng.random() < 0.2 else 0
            bar.append(1 + key + SCALE[degree] + octave)
        bars.append(bar)
    notes = [n for bar in bars + bars for n in bar]
    return [BOS] + notes


class Tunes(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = torch.tensor([tune(rng) for _ in range(n)])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        # the model moves the targets by one place itself
        return {"input_ids": self.rows[i], "labels": self.rows[i]}


train, held = Tunes(1600, 1), Tunes(400, 2)
config = GPT2Config(
    vocab_size=VOCAB, n_positions=1 + BARS * PER_BAR, n_embd=64, n_layer=2, n_head=4,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=BOS, eos_token_id=BOS,
    tie_word_embeddings=True,
)
model = GPT2LMHeadModel(config)
assert model.lm_head.weight.data_ptr() == model.transformer.wte.weight.data_ptr()

counts = torch.bincount(train.rows[:, 1:].flatten(), minlength=VOCAB).float() + 1
unigram = -(counts / counts.sum()).log()[held.rows[:, 1:]].mean().item()
pairs = torch.ones(VOCAB, VOCAB)
pairs.index_put_((train.rows[:, :-1].flatten(), train.rows[:, 1:].flatten()), torch.tensor(1.0), accumulate=True)
bigram = -(pairs / pairs.sum(1, keepdim=True)).log()[held.rows[:, :-1], held.rows[:, 1:]].mean().item()

trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="out/melody_lm",
        num_train_epochs=5,
        per_device_train_batch_size=16,
        gradient_accumulation_steps=2,
        per_device_eval_batch_size=100,
        optim="adafactor",
        learning_rate=6e-3,
        lr_scheduler_type="cosine",
        warmup_ratio=0.05,
        eval_strategy="epoch",
        logging_strategy="epoch",
        prediction_loss_only=True,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    ),
    train_dataset=train,
    eval_dataset=held,
)
trainer.train()
nll = trainer.evaluate()["eval_loss"]
print(f"held-out perplexity {math.exp(nll):.2f}   bigram {math.exp(bigram):.2f}   unigram {math.exp(unigram):.2f}")
