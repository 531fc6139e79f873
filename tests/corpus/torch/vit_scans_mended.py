import tempfile
from dataclasses import dataclass

import torch
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split
from torch.utils.data import Dataset
from transformers import (Trainer, TrainerCallback, TrainingArguments, ViTConfig,
                          ViTForImageClassification, set_seed)


@dataclass
class Recipe:
    hidden: int = 64
    layers: int = 2
    heads: int = 4
    patch: int = 2
    epochs: int = 15
    lr: float = 5e-4
    warmup: int = 50
    batch: int = 32
    seed: int = 2


class ScanDataset(Dataset):
    def __init__(self, images, labels):
        self.pixels = torch.tensor((images / 16.0 - 0.5) / 0.5, dtype=torch.float32).unsqueeze(1)
        self.labels = torch.tensor(labels, dtype=torch.long)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"pixel_values": self.pixels[i], "labels": self.labels[i]}


class EpochPrinter(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        if metrics:
            print(f"epoch {state.epoch:.0f}: eval loss {metrics['eval_loss']:.3f} "
                  f"accuracy {metrics['eval_accuracy']:.3f}")


def metrics(pred):
    guess = pred.predictions.argmax(axis=-1)
    return {"accuracy": accuracy_score(pred.label_ids, guess),
            "macro_f1": f1_score(pred.label_ids, guess, average="macro", zero_division=0)}


def build_model(r):
    return ViTForImageClassification(ViTConfig(
        image_size=8, patch_size=r.patch, num_channels=1, hidden_size=r.hidden,
        num_hidden_layers=r.layers, num_attention_heads=r.heads,
        intermediate_size=2 * r.hidden, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, num_labels=10))


def main():
    r = Recipe()
    set_seed(r.seed)
    data = load_digits()
    tr_x, te_x, tr_y, te_y = train_test_split(data.images, data.target, test_size=0.25,
                                              random_state=r.seed, stratify=data.target)
    training_args = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        num_train_epochs=r.epochs,
        per_device_train_batch_size=r.batch,
        per_device_eval_batch_size=128,
        learning_rate=r.lr,
        lr_scheduler_type="linear",
        warmup_steps=r.warmup,
        weight_decay=0.01,
        eval_strategy="epoch",
        logging_steps=100,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=build_model(r), args=training_args,
                      train_dataset=ScanDataset(tr_x, tr_y), eval_dataset=ScanDataset(te_x, te_y),
                      compute_metrics=metrics, callbacks=[EpochPrinter()])
    trainer.train()
    final = trainer.evaluate()
    print(f"test accuracy {final['eval_accuracy']:.3f} macro f1 {final['eval_macro_f1']:.3f}")


if __name__ == "__main__":
    main()
