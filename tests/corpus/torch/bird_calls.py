"""Classify short calls (synthetic) with a small Audio Spectrogram Transformer, loop with accelerate."""
import math

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset
from transformers import ASTConfig, ASTForAudioClassification

RATE, SECONDS, FRAME, HOP = 8000, 0.5, 128, 64
CALLS = ["whistle", "rising", "falling", "trill", "chirps"]


def call(kind, rng):
    """One recording: the call somewhere in the clip, plus wind noise."""
    t = np.arange(int(RATE * SECONDS)) / RATE
    f0 = rng.uniform(900, 1800)
    if kind == 0:
        phase = 2 * math.pi * f0 * t
    elif kind == 1:
        phase = 2 * math.pi * (f0 * t + 1200 * t ** 2)
    elif kind == 2:
        phase = 2 * math.pi * ((f0 + 1200) * t - 1200 * t ** 2)
    elif kind == 3:
        phase = 2 * math.pi * f0 * t + 6 * np.sin(2 * math.pi * 25 * t)
    else:
        phase = 2 * math.pi * f0 * t
    loud = rng.uniform(0.3, 1.0) * np.ones_like(t)
    if kind == 4:
        loud *= (np.sin(2 * math.pi * 8 * t + rng.uniform(0, 6)) > 0)
    return (loud * np.sin(phase) + rng.normal(0, 0.05, t.shape)).astype("float32")


def recordings(n, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, len(CALLS), n)
    return torch.from_numpy(np.stack([call(k, rng) for k in kinds])), torch.from_numpy(kinds)


def spectrogram(waves):
    """Log power, [clips, frames, bins]."""
    spec = torch.stft(waves, FRAME, HOP, window=torch.hann_window(FRAME), return_complex=True).abs() ** 2
    return torch.log(spec + 1e-6).transpose(1, 2)[:, :60, :64].contiguous()


def main():
    set_seed(4)
    accelerator = Accelerator(cpu=True)

    train_waves, train_labels = recordings(1200, 0)
    test_waves, test_labels = recordings(300, 1)
    train_spec = spectrogram(train_waves)
    test_spec = spectrogram(test_waves)

    # AST wants roughly standardised input
    mean, std = train_spec.mean(), train_spec.std()
    train_spec = (train_spec - mean) / (2 * std)
    print("mean and std of the spectrograms:", mean.item(), std.item())

    train_loader = DataLoader(TensorDataset(train_spec, train_labels), batch_size=32, shuffle=True)
    test_loader = DataLoader(TensorDataset(test_spec, test_labels), batch_size=100)

    config = ASTConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, patch_size=8,
                       frequency_stride=8, time_stride=8, max_length=60, num_mel_bins=64, num_labels=len(CALLS))
    model = ASTForAudioClassification(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-3, total_steps=8 * len(train_loader))
    model, optimizer, train_loader, test_loader, schedule = accelerator.prepare(
        model, optimizer, train_loader, test_loader, schedule)

    for epoch in range(8):
        model.train()
        losses = []
        for x, y in train_loader:
            loss = model(input_values=x, labels=y).loss
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())

        model.eval()
        guesses, truths = [], []
        for x, y in test_loader:
            with torch.no_grad():
                logits = model(input_values=x).logits
            guess, y = accelerator.gather_for_metrics((logits.argmax(-1), y))
            guesses.append(guess)
            truths.append(y)
        acc = (torch.cat(guesses) == torch.cat(truths)).float().mean().item()
        accelerator.print(f"epoch {epoch}: train loss {np.mean(losses):.3f}, test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
