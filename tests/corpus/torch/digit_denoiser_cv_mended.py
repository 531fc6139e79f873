"""Denoising autoencoder on 8x8 digits, 3-fold cross validation with HF Trainer."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments, set_seed


class DenoiserConfig(PretrainedConfig):
    model_type = "digit_denoiser"

    def __init__(self, pixels=64, hidden=128, code=32, initializer_range=0.1, **kw):
        super().__init__(**kw)
        self.pixels, self.hidden, self.code = pixels, hidden, code
        self.initializer_range = initializer_range


class Denoiser(PreTrainedModel):
    config_class = DenoiserConfig

    def __init__(self, config):
        super().__init__(config)
        self.encoder = nn.Sequential(
            nn.Linear(config.pixels, config.hidden), nn.ReLU(),
            nn.Linear(config.hidden, config.code), nn.ReLU(),
        )
        self.decoder = nn.Sequential(
            nn.Linear(config.code, config.hidden), nn.ReLU(), nn.Linear(config.hidden, config.pixels),
        )
        self.post_init()

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            module.weight.data.normal_(mean=0.0, std=self.config.initializer_range)
            module.bias.data.zero_()

    def forward(self, noisy, labels=None):
        restored = self.decoder(self.encoder(noisy))
        loss = None if labels is None else nn.functional.mse_loss(restored, labels)
        return {"loss": loss, "logits": restored}


class NoisyDigits(Dataset):
    def __init__(self, clean, sigma=0.25, seed=0):
        self.clean = torch.tensor(clean, dtype=torch.float32)
        noise = torch.randn(self.clean.shape, generator=torch.Generator().manual_seed(seed))
        self.noisy = self.clean + sigma * noise

    def __len__(self):
        return len(self.clean)

    def __getitem__(self, i):
        return {"noisy": self.noisy[i], "labels": self.clean[i]}


def run_fold(k, train_x, test_x):
    set_seed(100 + k)
    args = TrainingArguments(
        output_dir="out", num_train_epochs=10, per_device_train_batch_size=32,
        per_device_eval_batch_size=256, learning_rate=2e-3, lr_scheduler_type="linear",
        eval_strategy="no", save_strategy="no", logging_steps=100,
        report_to="none", use_cpu=True, disable_tqdm=True,
    )
    test = NoisyDigits(test_x, seed=50 + k)
    trainer = Trainer(
        model=Denoiser(DenoiserConfig()), args=args,
        train_dataset=NoisyDigits(train_x, seed=k), eval_dataset=test,
    )
    before = trainer.evaluate()["eval_loss"]
    trainer.train()
    after = trainer.evaluate()["eval_loss"]
    mean_image = ((test.clean - torch.tensor(train_x.mean(0), dtype=torch.float32)) ** 2).mean().item()
    identity = ((test.noisy - test.clean) ** 2).mean().item()
    print(f"fold {k}: mse before {before:.4f} after {after:.4f} | mean image {mean_image:.4f} noisy input {identity:.4f}")
    return before, after, mean_image


def main():
    x = load_digits().data / 16.0
    rows = [run_fold(k, x[tr], x[te])
            for k, (tr, te) in enumerate(KFold(3, shuffle=True, random_state=1).split(x))]
    before, after, mean_image = np.mean(rows, axis=0)
    print(f"cv mse before {before:.4f} after {after:.4f} (mean image {mean_image:.4f})")


if __name__ == "__main__":
    main()
