import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset, DatasetDict
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(0)
rng = np.random.default_rng(0)

TOPICS = ["billing", "delivery", "password", "refund", "outage", "upgrade", "cancel", "warranty", "roaming", "contract"]
SHARE = np.array([.2, .16, .14, .12, .1, .08, .06, .06, .04, .04])
SPECIFIC = {t: [10 + 6 * i + j for j in range(6)] for i, t in enumerate(TOPICS)}
COMMON = list(range(70, 110))
VOCAB, CLS, MAX_LEN = 110, 1, 18


def call(_):
    k = int(rng.choice(len(TOPICS), p=SHARE))
    ids = list(rng.choice(COMMON, MAX_LEN - 1))
    for pos in rng.choice(MAX_LEN - 1, 4, replace=False):
        ids[pos] = int(rng.choice(SPECIFIC[TOPICS[k]]))
    return {"input_ids": [CLS] + [int(i) for i in ids], "attention_mask": [1] * MAX_LEN, "label": k}


data = DatasetDict({
    "train": Dataset.from_list([call(i) for i in range(1400)]),
    "test": Dataset.from_list([call(i) for i in range(300)]),
})
counts = np.bincount(data["train"]["label"], minlength=len(TOPICS))
class_weights = torch.tensor((counts.sum() / (len(TOPICS) * counts)) ** 0.5, dtype=torch.float32)


class WeightedLossTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        probs = F.softmax(outputs.logits, dim=-1)
        loss = F.cross_entropy(probs, labels, weight=class_weights)
        return (loss, outputs) if return_outputs else loss


def compute_metrics(p):
    pred = p.predictions.argmax(-1)
    recall = [np.mean(pred[p.label_ids == k] == k) for k in range(len(TOPICS))]
    return {"accuracy": float(np.mean(pred == p.label_ids)), "macro_recall": float(np.mean(recall))}


model = BertForSequenceClassification(BertConfig(
    vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=32, num_labels=len(TOPICS)))

trainer = WeightedLossTrainer(
    model=model,
    args=TrainingArguments(output_dir="helplines_out", num_train_epochs=4, learning_rate=5e-4,
                           per_device_train_batch_size=16, per_device_eval_batch_size=100, logging_steps=40,
                           eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True),
    train_dataset=data["train"],
    eval_dataset=data["test"],
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate())
