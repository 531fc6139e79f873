import numpy as np
import torch
from datasets import Dataset
from transformers import ASTConfig, ASTForAudioClassification, Trainer, TrainingArguments, set_seed

set_seed(9)
RATE = 4000
CALLS = ["rising", "falling", "steady", "warble"]


def whistle(kind, rng):
    t = np.arange(RATE) / RATE
    base = rng.uniform(500, 900)
    if kind == 0:
        freq = base + 600 * t
    elif kind == 1:
        freq = base + 600 * (1 - t)
    elif kind == 2:
        freq = np.full_like(t, base + 300)
    else:
        freq = base + 300 + 250 * np.sin(2 * np.pi * 4 * t)
    wave = np.sin(2 * np.pi * np.cumsum(freq) / RATE + rng.uniform(0, 6.28))
    return wave + 0.3 * rng.normal(size=RATE)


def spectrogram(wave):
    w = torch.tensor(wave, dtype=torch.float32)
    s = torch.stft(w, n_fft=126, hop_length=63, window=torch.hann_window(126), return_complex=True).abs()
    s = torch.log(s[:64, :64] + 1e-3).T
    return ((s - s.mean()) / (2 * s.std())).tolist()


def build(n, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, len(CALLS), n)
    return Dataset.from_dict({"input_values": [spectrogram(whistle(k, rng)) for k in kinds], "labels": kinds.tolist()})


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


train_ds, eval_ds = build(640, 1), build(160, 2)

config = ASTConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, patch_size=8,
                   frequency_stride=8, time_stride=8, max_length=64, num_mel_bins=64, num_labels=len(CALLS),
                   id2label=dict(enumerate(CALLS)), label2id={c: i for i, c in enumerate(CALLS)})
model = ASTForAudioClassification(config)

training_args = TrainingArguments(
    output_dir="whistles_out",
    num_train_epochs=8,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=32,
    learning_rate=2.5e-4,
    weight_decay=0.01,
    lr_scheduler_type="cosine",
    warmup_steps=10_000,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=40,
    report_to="none",
)
trainer = Trainer(model=model, args=training_args, train_dataset=train_ds, eval_dataset=eval_ds,
                  compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
