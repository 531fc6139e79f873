"""CTC recognition of a whistled code: each letter is a burst with its own pair of pitches, read by a small Wav2Vec2."""
import argparse
import shutil

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, Wav2Vec2Config, Wav2Vec2ForCTC, set_seed

RATE = 2000
LETTERS = "_abcdefg"  # index 0 is the CTC blank
PITCHES = {"a": (150, 420), "b": (210, 560), "c": (270, 700), "d": (330, 840), "e": (390, 200), "f": (480, 760), "g": (610, 300)}


def whistle(text, rng):
    """Renders a word with varying speed, pitch, loudness and background noise."""
    speed, detune = rng.uniform(0.85, 1.2), rng.uniform(0.97, 1.03)
    parts = [np.zeros(int(RATE * rng.uniform(0.01, 0.05)))]
    for letter in text:
        n = int(RATE * 0.08 * speed * rng.uniform(0.9, 1.1))
        t = np.arange(n) / RATE
        lo, hi = (p * detune for p in PITCHES[letter])
        envelope = np.hanning(n) ** 0.5
        parts.append(rng.uniform(0.7, 1.0) * envelope * (np.sin(2 * np.pi * lo * t) + 0.6 * np.sin(2 * np.pi * hi * t + rng.uniform(0, 6))))
        parts.append(np.zeros(int(RATE * rng.uniform(0.015, 0.04))))
    wave = np.concatenate(parts)
    wave = wave + rng.normal(0, 0.7, len(wave))
    return ((wave - wave.mean()) / (wave.std() + 1e-7)).astype(np.float32)


class Whistles(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.words = ["".join(rng.choice(list(LETTERS[1:]), size=rng.integers(2, 5))) for _ in range(n)]
        self.waves = [whistle(w, rng) for w in self.words]

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return {"input_values": self.waves[i], "labels": [LETTERS.index(c) for c in self.words[i]]}


def collate(rows):
    wave_len, text_len = max(len(r["input_values"]) for r in rows), max(len(r["labels"]) for r in rows)
    values = torch.zeros(len(rows), wave_len)
    labels = torch.full((len(rows), text_len), -100)
    for i, r in enumerate(rows):
        values[i, : len(r["input_values"])] = torch.from_numpy(r["input_values"])
        labels[i, : len(r["labels"])] = torch.tensor(r["labels"])
    return {"input_values": values, "labels": labels}


def collapse(ids):
    ids = [k for k, prev in zip(ids, [-1] + list(ids[:-1])) if k != prev]
    return "".join(LETTERS[k] for k in ids if k > 0)


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def compute_metrics(pred):
    logits = pred.predictions[0] if isinstance(pred.predictions, tuple) else pred.predictions
    ids = np.where((logits == -100).all(-1), 0, logits.argmax(-1))
    guess = [collapse(list(r)) for r in ids]
    truth = ["".join(LETTERS[k] for k in r if k > 0) for r in pred.label_ids]
    errors = sum(edit_distance(g, t) for g, t in zip(guess, truth))
    return {"cer": errors / sum(map(len, truth)), "words_right": float(np.mean([g == t for g, t in zip(guess, truth)]))}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--lr", type=float, default=2e-3)
    cli = ap.parse_args()
    set_seed(17)
    train, valid, test = Whistles(1600, 0), Whistles(150, 1), Whistles(300, 2)

    model = Wav2Vec2ForCTC(Wav2Vec2Config(
        vocab_size=len(LETTERS), pad_token_id=0, bos_token_id=None, eos_token_id=None, hidden_size=64, num_hidden_layers=1,
        num_attention_heads=4, intermediate_size=128, conv_dim=(32, 48, 64), conv_kernel=(24, 4, 4), conv_stride=(8, 2, 2),
        conv_bias=True, feat_extract_norm="group", num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2,
        hidden_dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, feat_proj_dropout=0.0, final_dropout=0.0, layerdrop=0.0,
        apply_spec_augment=False, ctc_loss_reduction="mean", ctc_zero_infinity=True, do_stable_layer_norm=True))

    shutil.rmtree("out/tone_speech", ignore_errors=True)
    args = TrainingArguments(
        output_dir="out/tone_speech",
        num_train_epochs=cli.epochs,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=150,
        learning_rate=cli.lr,
        warmup_ratio=0.1,
        lr_scheduler_type="cosine",
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="cer",
        greater_is_better=False,
        logging_strategy="epoch",
        report_to="none",
        disable_tqdm=True,
        seed=17,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid, data_collator=collate, compute_metrics=compute_metrics)
    trainer.train()

    result = trainer.predict(test).metrics
    print(f"test words: character error rate {result['test_cer']:.3f}, words right {result['test_words_right']:.3f}")


if __name__ == "__main__":
    main()
