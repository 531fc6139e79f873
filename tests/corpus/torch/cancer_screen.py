import tempfile

import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed


class CellDataset(Dataset):
    def __init__(self, features, diagnosis):
        self.features = features.astype("float32")
        self.diagnosis = diagnosis.astype("int64")

    def __len__(self):
        return len(self.diagnosis)

    def __getitem__(self, i):
        return {"cells": self.features[i], "diagnosis": self.diagnosis[i]}


def collate(rows):
    return {"cells": torch.from_numpy(np.stack([r["cells"] for r in rows])),
            "diagnosis": torch.tensor([r["diagnosis"] for r in rows])}


class ScreenNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.hidden = nn.Linear(n_in, 32)
        self.out = nn.Linear(32, 2)

    def forward(self, cells):
        return {"logits": self.out(torch.relu(self.hidden(cells)))}


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weight=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weight = class_weight

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        target = inputs["diagnosis"]
        outputs = model(inputs["cells"])
        loss = nn.functional.cross_entropy(outputs["logits"], target, weight=self.class_weight)
        return (loss, outputs) if return_outputs else loss


def compute_metrics(pred):
    guess = pred.predictions.argmax(-1)
    return {"balanced_accuracy": balanced_accuracy_score(pred.label_ids, guess),
            "malignant_recall": recall_score(pred.label_ids, guess, pos_label=0)}


def main():
    set_seed(12)
    X, y = load_breast_cancer(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, random_state=12, stratify=y)
    scaler = StandardScaler().fit(X_tr)
    train_ds = CellDataset(scaler.transform(X_tr), y_tr)
    test_ds = CellDataset(scaler.transform(X_te), y_te)

    model = ScreenNet(X.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=15, per_device_train_batch_size=32,
        label_names=["diagnosis"], remove_unused_columns=False, max_grad_norm=0.0,
        eval_strategy="epoch", save_strategy="no", logging_steps=50, report_to=[], use_cpu=True,
        disable_tqdm=True)
    trainer = WeightedTrainer(
        model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds,
        data_collator=collate, compute_metrics=compute_metrics, optimizers=(optimizer, scheduler),
        class_weight=torch.tensor([2.0, 1.0]))
    trainer.train()
    result = trainer.evaluate()
    print(f"balanced accuracy {result['eval_balanced_accuracy']:.3f} "
          f"malignant recall {result['eval_malignant_recall']:.3f}")


if __name__ == "__main__":
    main()
