"""Rare-fault detection on turbine alarm codes, class-weighted loss through a Trainer subclass."""
import tempfile

import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import balanced_accuracy_score, f1_score, recall_score
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(11)
rs = np.random.RandomState(11)
N_CODES, LEN, CLS = 40, 16, 1


def make_split(n, rare=0.07):
    y = (rs.rand(n) < rare).astype(int)
    ids = rs.randint(2, N_CODES, size=(n, LEN))
    for i in range(n):
        k = rs.binomial(LEN, 0.32 if y[i] else 0.08)
        pos = rs.choice(LEN, k, replace=False)
        ids[i, pos] = rs.randint(2, 7, size=k)
    ids = np.concatenate([np.full((n, 1), CLS), ids], axis=1)
    return Dataset.from_dict({"input_ids": ids.tolist(), "labels": y.tolist()})


train_ds, test_ds = make_split(3000), make_split(1000)

counts = np.bincount(train_ds["labels"], minlength=2)
print("class counts:", counts)
class_weights = torch.tensor(counts / counts.sum() * 2, dtype=torch.float)
print("class weights:", class_weights)


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weights=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weights = class_weights

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss_fct = nn.CrossEntropyLoss(weight=self.class_weights.to(outputs.logits.device))
        loss = loss_fct(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss


def collate(features):
    return {k: torch.tensor([f[k] for f in features]) for k in features[0]}


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    preds = logits.argmax(-1)
    return {
        "accuracy": float((preds == labels).mean()),
        "fault_recall": recall_score(labels, preds, zero_division=0),
        "fault_f1": f1_score(labels, preds, zero_division=0),
        "balanced_accuracy": balanced_accuracy_score(labels, preds),
    }


model = BertForSequenceClassification(BertConfig(
    vocab_size=N_CODES, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
    intermediate_size=64, max_position_embeddings=32, num_labels=2,
))
training_args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    num_train_epochs=4,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=128,
    learning_rate=1e-3,
    weight_decay=0.01,
    eval_strategy="epoch",
    logging_strategy="epoch",
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    use_cpu=True,
)
trainer = WeightedTrainer(
    model=model, args=training_args, train_dataset=train_ds, eval_dataset=test_ds,
    data_collator=collate, compute_metrics=compute_metrics, class_weights=class_weights,
)
trainer.train()
print({k: round(v, 3) for k, v in trainer.evaluate().items()})
