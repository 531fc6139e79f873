"""Tell how the pitch of a short whistle moves, from the raw waveform, with a small Wav2Vec2."""
import argparse
import math

import numpy as np
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from transformers import (
    Wav2Vec2Config,
    Wav2Vec2ForSequenceClassification,
    get_cosine_schedule_with_warmup,
    set_seed,
)

KINDS = ["rising", "falling", "steady", "warble"]
RATE = 8000
SAMPLES = 1600


def whistle(kind, rng):
    t = np.arange(SAMPLES) / RATE
    base = rng.uniform(500, 1100)
    span = rng.uniform(300, 600)
    pace = t / t[-1]
    if kind == "rising":
        pitch = base + span * pace
    elif kind == "falling":
        pitch = base + span * (1 - pace)
    elif kind == "steady":
        pitch = np.full_like(t, base + span / 2)
    else:
        pitch = base + span / 2 * (1 + np.sin(2 * math.pi * rng.uniform(15, 25) * t))
    wave = np.sin(2 * math.pi * np.cumsum(pitch) / RATE + rng.uniform(0, 2 * math.pi))
    wave = rng.uniform(0.3, 1.0) * wave + rng.normal(0, 0.05, SAMPLES)
    return (wave - wave.mean()) / wave.std()


def make_set(n, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, len(KINDS), n)
    waves = np.stack([whistle(KINDS[k], rng) for k in kinds]).astype(np.float32)
    return TensorDataset(torch.from_numpy(waves), torch.from_numpy(kinds))


def make_model(width):
    return Wav2Vec2ForSequenceClassification(
        Wav2Vec2Config(
            conv_dim=(32, 48, 48),
            conv_kernel=(10, 8, 4),
            conv_stride=(5, 4, 2),
            feat_extract_norm="layer",
            conv_bias=True,
            hidden_size=width,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=2 * width,
            num_conv_pos_embeddings=15,
            num_conv_pos_embedding_groups=4,
            classifier_proj_size=width,
            mask_time_prob=0.0,
            layerdrop=0.0,
            hidden_dropout=0.0,
            attention_dropout=0.0,
            activation_dropout=0.0,
            feat_proj_dropout=0.0,
            num_labels=len(KINDS),
        )
    )


def evaluate(model, loader, accelerator):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for waves, kinds in loader:
            guess = model(input_values=waves).logits.argmax(-1)
            guess, kinds = accelerator.gather_for_metrics((guess, kinds))
            hits += (guess == kinds).sum().item()
            total += len(kinds)
    return hits / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--accumulate", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--seed", type=int, default=2)
    opt = parser.parse_args()

    set_seed(opt.seed)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=opt.accumulate)
    train_loader = DataLoader(make_set(1600, opt.seed), batch_size=opt.batch, shuffle=True)
    test_loader = DataLoader(make_set(400, opt.seed + 1), batch_size=50)
    model = make_model(opt.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=opt.lr, weight_decay=0.01)
    updates = opt.epochs * math.ceil(len(train_loader) / opt.accumulate)
    scheduler = get_cosine_schedule_with_warmup(optimizer, updates // 10, updates)
    model, optimizer, train_loader, test_loader, scheduler = accelerator.prepare(
        model, optimizer, train_loader, test_loader, scheduler
    )

    for epoch in range(opt.epochs):
        model.train()
        losses = []
        for waves, kinds in train_loader:
            with accelerator.accumulate(model):
                loss = model(input_values=waves, labels=kinds).loss
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            losses.append(loss.item())
        score = evaluate(model, test_loader, accelerator)
        accelerator.print(f"epoch {epoch}  loss {np.mean(losses):.4f}  accuracy {score:.3f}")


if __name__ == "__main__":
    main()
