import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(2)
digits = load_digits()
order = np.argsort(digits.target, kind="stable")
images, targets = (digits.images[order] / 16.0).astype("float32"), digits.target[order]
test_mask = np.arange(len(targets)) % 5 == 0


class DigitDataset(Dataset):
    def __init__(self, images, targets):
        self.images, self.targets = images, targets

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        return {"image": torch.from_numpy(self.images[i])[None], "labels": int(self.targets[i])}


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(32 * 16, 10)

    def forward(self, image, labels=None):
        logits = self.head(self.features(image))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


class DigitTrainer(Trainer):
    def get_train_dataloader(self):
        return DataLoader(self.train_dataset, batch_size=self.args.train_batch_size,
                          collate_fn=self.data_collator, num_workers=0)


class Printer(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"epoch {state.epoch:.0f}: accuracy {metrics['eval_accuracy']:.3f}")


args = TrainingArguments("digits", num_train_epochs=4, per_device_train_batch_size=16, learning_rate=2e-3,
                         eval_strategy="epoch", logging_steps=15, save_strategy="no", report_to="none", seed=2)
trainer = DigitTrainer(
    model=DigitNet(), args=args,
    train_dataset=DigitDataset(images[~test_mask], targets[~test_mask]),
    eval_dataset=DigitDataset(images[test_mask], targets[test_mask]),
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
    callbacks=[Printer()])
trainer.train()
print(trainer.evaluate())
