import numpy as np
import torch
from torch import nn
from datasets import Dataset
from sklearn.metrics import f1_score, recall_score
from transformers import Trainer, TrainingArguments, set_seed

set_seed(4)
rng = np.random.default_rng(4)
n = 3000
load, wind, age, humidity = rng.normal(size=(4, n))
score = 1.6 * load + 1.4 * wind * (wind > 0) + 0.8 * age
label = (score + rng.normal(0, 0.15, n) > np.quantile(score, 0.94)).astype(int)
X = np.stack([load, wind, age, humidity], 1).astype("float32")
ds = Dataset.from_dict({"x": X, "labels": label}).with_format("torch").train_test_split(0.25, seed=4)

counts = np.bincount(np.array(ds["train"]["labels"]), minlength=2)
class_weights = torch.tensor(counts.sum() / (2.0 * counts), dtype=torch.float32)
print("class counts", counts, "weights", class_weights.tolist())


class OutageNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 2))

    def forward(self, x, labels=None):
        return {"logits": self.layers(x)}


class FocalTrainer(Trainer):
    gamma = 1.5

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        outputs = model(x=inputs["x"])
        logp = torch.log_softmax(outputs["logits"], dim=-1).gather(1, labels[:, None]).squeeze(1)
        loss = -(class_weights[labels] * (1 - logp.exp()) ** self.gamma * logp).mean()
        return (loss, outputs) if return_outputs else loss


def compute_metrics(p):
    pred = p.predictions.argmax(-1)
    return {"f1_outage": f1_score(p.label_ids, pred), "recall_outage": recall_score(p.label_ids, pred),
            "macro_f1": f1_score(p.label_ids, pred, average="macro")}


args = TrainingArguments("outages", num_train_epochs=12, per_device_train_batch_size=64, learning_rate=5e-3,
                         eval_strategy="epoch", logging_strategy="epoch", save_strategy="no", report_to="none",
                         label_names=["labels"], seed=4)
trainer = FocalTrainer(model=OutageNet(), args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                       compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
