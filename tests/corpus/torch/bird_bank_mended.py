import math
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

set_seed(21)
SPECIES = ["wren", "robin", "swift", "owl"]
RATE = 4000
LENGTH = 1200


def chirp(species, gen):
    t = np.arange(LENGTH) / RATE
    base = {"wren": 1300, "robin": 900, "swift": 600, "owl": 300}[species] * gen.uniform(0.9, 1.1)
    sweep = {"wren": -800, "robin": 900, "swift": -300, "owl": 250}[species] * gen.uniform(0.7, 1.3)
    wave = np.sin(2 * math.pi * (base * t + 0.5 * sweep * t ** 2) + gen.uniform(0, 6.28))
    wave = wave + 0.3 * gen.standard_normal(LENGTH)
    cut = gen.integers(600, LENGTH + 1)
    return np.pad(wave[:cut], (0, LENGTH - cut)).astype("float32")


class Clips(Dataset):
    def __init__(self, n, seed):
        gen = np.random.default_rng(seed)
        self.y = gen.integers(0, len(SPECIES), n)
        self.x = np.stack([chirp(SPECIES[k], gen) for k in self.y])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"waveform": torch.from_numpy(self.x[i]), "labels": int(self.y[i])}


class LearnedFilterbank(nn.Module):
    def __init__(self, bands=24, floor=0.02):
        super().__init__()
        self.conv = nn.Conv1d(1, bands, 48, stride=8, bias=False)
        self.floor = floor

    def forward(self, wave):
        energy = F.avg_pool1d(self.conv(wave.unsqueeze(1)) ** 2, 4)
        ratio = energy / self.floor
        return torch.log(torch.clamp(ratio, min=1.0))


class BirdNet(nn.Module):
    def __init__(self, classes, bands=24):
        super().__init__()
        self.bank = LearnedFilterbank(bands)
        self.body = nn.Sequential(nn.Conv1d(bands, 32, 5, padding=2), nn.ReLU(),
                                  nn.MaxPool1d(3), nn.Conv1d(32, 32, 3, padding=1), nn.ReLU())
        self.head = nn.Linear(32, classes)

    def forward(self, waveform, labels=None):
        feats = self.body(self.bank(waveform))
        logits = self.head(feats.mean(-1))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


def score(pred):
    guess = pred.predictions.argmax(-1)
    return {"accuracy": float((guess == pred.label_ids).mean())}


def main():
    train, test = Clips(900, 1), Clips(300, 2)
    args = TrainingArguments(
        output_dir="out/birds", per_device_train_batch_size=30, per_device_eval_batch_size=100,
        num_train_epochs=8, learning_rate=2e-3, lr_scheduler_type="cosine", eval_strategy="epoch",
        logging_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=BirdNet(len(SPECIES)), args=args, train_dataset=train,
                      eval_dataset=test, compute_metrics=score)
    trainer.train()
    out = trainer.evaluate()
    print(f"species accuracy {out['eval_accuracy']:.3f}  loss {out['eval_loss']:.4f}  chance {1 / len(SPECIES):.2f}")


if __name__ == "__main__":
    main()
