import numpy as np
import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(17)
rng = np.random.default_rng(17)
V, L = 40, 24


def log_row():
    """Event codes; an alarm (4 %) has codes 35..39 at least three times."""
    y = int(rng.random() < 0.04)
    ids = rng.integers(2, 35, L)
    k = rng.integers(3, 6) if y else rng.integers(0, 2)
    ids[rng.choice(L, k, replace=False)] = rng.integers(35, V, k)
    return {"input_ids": [1] + ids.tolist(), "attention_mask": [1] * (L + 1), "labels": y}


train, dev = [log_row() for _ in range(4000)], [log_row() for _ in range(1500)]
rate = float(np.mean([r["labels"] for r in train]))


class CostTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        w = torch.tensor([0.5 / (1 - rate), 0.5 / rate])
        loss = torch.nn.functional.cross_entropy(out.logits, labels, weight=w)
        return (loss, {"logits": out.logits}) if return_outputs else loss

    def create_scheduler(self, num_training_steps, optimizer=None):
        opt = optimizer or self.optimizer
        # triangle: up for a third, down to a tenth
        third = num_training_steps / 3

        def shape(s):
            return min(1.0, (s + 1) / third) if s < third else max(0.1, 1 - (s - third) / (2 * third))

        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(opt, shape)
        return self.lr_scheduler


def metrics(p):
    pred, y = p.predictions.argmax(-1), p.label_ids
    tp = int(((pred == 1) & (y == 1)).sum())
    pr, rc = tp / max(1, int((pred == 1).sum())), tp / max(1, int((y == 1).sum()))
    return {"precision": pr, "recall": rc, "f1": 2 * pr * rc / max(1e-9, pr + rc),
            "majority_acc": float((y == 0).mean())}


model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=V, dim=48, hidden_dim=96, n_layers=2, n_heads=4, max_position_embeddings=L + 1, num_labels=2))
args = TrainingArguments(output_dir="out", num_train_epochs=6, per_device_train_batch_size=64,
                         per_device_eval_batch_size=250, learning_rate=1e-3, logging_steps=50, eval_strategy="epoch",
                         save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
t = CostTrainer(model=model, args=args, train_dataset=train, eval_dataset=dev, compute_metrics=metrics)
t.train()
print(t.evaluate())
