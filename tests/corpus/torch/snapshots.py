import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

set_seed(11)


class Digits(Dataset):
    def __init__(self, images, targets):
        self.images = torch.tensor(images, dtype=torch.float32).unsqueeze(1) / 16 - 0.3
        self.targets = torch.tensor(targets)

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        return {"pixel_values": self.images[i], "labels": self.targets[i]}


class SmallCNN(nn.Module):
    def __init__(self, n_classes=10):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.Dropout2d(0.3),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout2d(0.4))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(48 * 16, 64), nn.ReLU(), nn.Dropout(0.5),
                                  nn.Linear(64, n_classes))

    def forward(self, pixel_values, labels=None):
        logits = self.head(self.features(pixel_values))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


class PerClassTrainer(Trainer):
    """reports the accuracy of every class and not only the overall one"""

    def evaluate(self, eval_dataset=None, ignore_keys=None, metric_key_prefix="eval"):
        loader = self.get_eval_dataloader(eval_dataset)
        hits, seen = torch.zeros(10), torch.zeros(10)
        with torch.no_grad():
            for batch in loader:
                batch = self._prepare_inputs(batch)
                pred = self.model(batch["pixel_values"])["logits"].argmax(-1)
                for p, t in zip(pred, batch["labels"]):
                    seen[t] += 1
                    hits[t] += float(p == t)
        result = {f"{metric_key_prefix}_acc_{d}": (hits[d] / seen[d]).item() for d in range(10)}
        result[f"{metric_key_prefix}_accuracy"] = (hits.sum() / seen.sum()).item()
        self.log(result)
        return result


X, y = load_digits(return_X_y=True)
X_train, X_val, y_train, y_val = train_test_split(X.reshape(-1, 8, 8), y, test_size=0.3, random_state=11)
args = TrainingArguments("cnn_out", num_train_epochs=8, learning_rate=2e-3, per_device_train_batch_size=32,
                         per_device_eval_batch_size=64, eval_strategy="epoch", save_strategy="no",
                         logging_steps=40, report_to="none", use_cpu=True, disable_tqdm=True)
trainer = PerClassTrainer(SmallCNN(), args, train_dataset=Digits(X_train, y_train),
                          eval_dataset=Digits(X_val, y_val))
trainer.train()
for _ in range(3):
    print(round(trainer.evaluate()["eval_accuracy"], 4))
