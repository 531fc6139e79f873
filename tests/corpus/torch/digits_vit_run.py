import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

set_seed(0)
digits = load_digits()
X = (digits.images / 16.0 - 0.5).astype(np.float32)
Xtr, Xte, ytr, yte = train_test_split(X, digits.target, test_size=0.25, stratify=digits.target, random_state=0)


class Digits(Dataset):
    def __init__(self, x, y):
        self.x, self.y = torch.from_numpy(x).unsqueeze(1), torch.from_numpy(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"pixel_values": self.x[i], "labels": self.y[i]}


class Echo(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kw):
        print(f"epoch {state.epoch:.0f}: acc {metrics['eval_acc']:.3f} loss {metrics['eval_loss']:.3f}")


config = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                   intermediate_size=128, hidden_dropout_prob=0.1, num_labels=10)
trainer = Trainer(
    model=ViTForImageClassification(config),
    args=TrainingArguments("out_digits", num_train_epochs=10, per_device_train_batch_size=32, learning_rate=2e-3,
                           lr_scheduler_type="cosine", warmup_ratio=0.1, eval_strategy="epoch", save_strategy="no",
                           logging_steps=43, report_to="none", use_cpu=True, disable_tqdm=True),
    train_dataset=Digits(Xtr, ytr),
    eval_dataset=Digits(Xte, yte),
    compute_metrics=lambda p: {"acc": float((p.predictions.argmax(1) == p.label_ids).mean())},
    callbacks=[Echo()],
)
trainer.train()
pred = trainer.predict(Digits(Xte, yte))
worst = min(range(10), key=lambda k: (pred.predictions.argmax(1)[yte == k] == k).mean())
print("test accuracy:", pred.metrics["test_acc"], "hardest digit:", worst)
