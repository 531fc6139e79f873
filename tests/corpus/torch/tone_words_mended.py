"""Classify short tones by their spectrogram with a small conv model and the HF Trainer."""
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments, set_seed

SR, N_FFT, HOP = 4000, 128, 64
BASE = [220, 247, 262, 294, 330, 349, 392, 440, 494, 523, 587, 659]


def synth(rng, label, seconds=0.4):
    t = np.arange(int(SR * seconds)) / SR
    f = BASE[label] * rng.uniform(0.985, 1.015)
    wave = np.sin(2 * np.pi * f * t + rng.uniform(0, 6))
    wave += 0.5 * np.sin(2 * np.pi * 2 * f * t) * rng.uniform(0, 1)
    wave *= np.exp(-t * rng.uniform(0, 4))
    return (wave + 1.0 * rng.standard_normal(len(t))).astype(np.float32)


def spectrogram(wave):
    spec = torch.stft(
        torch.from_numpy(wave), N_FFT, HOP, window=torch.hann_window(N_FFT), return_complex=True
    ).abs()
    spec = torch.log1p(spec)
    return (spec - spec.mean()) / (spec.std() + 1e-6)


class ToneDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, len(BASE), n)
        self.specs = [spectrogram(synth(rng, l)) for l in self.labels]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"spec": self.specs[i], "labels": int(self.labels[i])}


class ToneConfig(PretrainedConfig):
    model_type = "tone"

    def __init__(self, channels=32, num_labels=12, **kw):
        super().__init__(num_labels=num_labels, **kw)
        self.channels = channels


class ToneClassifier(PreTrainedModel):
    config_class = ToneConfig

    def __init__(self, config):
        super().__init__(config)
        self.conv = nn.Sequential(
            nn.Conv1d(N_FFT // 2 + 1, config.channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv1d(config.channels, config.channels, 3, padding=1),
            nn.ReLU(),
        )
        self.classifier = nn.Linear(config.channels, config.num_labels)

    def forward(self, spec, labels=None):
        pooled = self.conv(spec).mean(-1)
        scores = self.classifier(pooled)
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(scores, labels)
        return {"loss": loss, "logits": scores}


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


if __name__ == "__main__":
    set_seed(4)
    train, test = ToneDataset(1200, 1), ToneDataset(400, 2)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=4,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=100,
        learning_rate=1e-3,
        lr_scheduler_type="cosine",
        warmup_ratio=0.05,
        eval_strategy="epoch",
        save_strategy="no",
        logging_strategy="epoch",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=ToneClassifier(ToneConfig()),
        args=args,
        train_dataset=train,
        eval_dataset=test,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    m = trainer.evaluate()
    print(f"test loss {m['eval_loss']:.4f}  accuracy {m['eval_accuracy']:.4f}  (chance {1 / len(BASE):.3f})")
