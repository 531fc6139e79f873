"""8x8 digit images as integer pixels through HF Trainer, best checkpoint kept."""
import shutil
import tempfile
import numpy as np
import torch
from torch import nn
from datasets import Dataset
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments, set_seed

set_seed(9)


class PixelNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.entry = nn.BatchNorm2d(1)
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 16, 10),
        )

    def forward(self, image, digit=None):
        scores = self.body(self.entry(image.float().unsqueeze(1)))
        logp = scores.log_softmax(-1)
        if digit is None:
            return {"logp": logp}
        return {"loss": nn.functional.nll_loss(logp, digit), "logp": logp}


def build(images, targets):
    return Dataset.from_dict({
        "image": images.astype("uint8").tolist(),
        "digit": targets.tolist(),
        "writer_note": ["n/a"] * len(targets),
    })


def stack(rows):
    return {
        "image": torch.tensor([r["image"] for r in rows], dtype=torch.uint8),
        "digit": torch.tensor([r["digit"] for r in rows]),
    }


def metrics(p):
    pred = np.argmax(p.predictions, -1)
    return {"acc": accuracy_score(p.label_ids, pred), "macro_f1": f1_score(p.label_ids, pred, average="macro")}


data = load_digits()
xa, xte, ya, yte = train_test_split(data.images, data.target, test_size=0.2, stratify=data.target, random_state=1)
xtr, xva, ytr, yva = train_test_split(xa, ya, test_size=0.15, stratify=ya, random_state=1)
out = tempfile.mkdtemp()
args = TrainingArguments(
    output_dir=out,
    num_train_epochs=8,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=256,
    learning_rate=1e-2,
    lr_scheduler_type="cosine",
    label_names=["digit"],
    remove_unused_columns=False,
    eval_strategy="epoch",
    save_strategy="epoch",
    save_total_limit=1,
    load_best_model_at_end=True,
    metric_for_best_model="acc",
    greater_is_better=True,
    logging_strategy="epoch",
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(
    model=PixelNet(), args=args, train_dataset=build(xtr, ytr), eval_dataset=build(xva, yva),
    data_collator=stack, compute_metrics=metrics, callbacks=[EarlyStoppingCallback(4)],
)
trainer.train()
res = trainer.predict(build(xte, yte)).metrics
print(f"test loss {res['test_loss']:.4f} accuracy {res['test_acc']:.3f} macro-F1 {res['test_macro_f1']:.3f}")
shutil.rmtree(out)
