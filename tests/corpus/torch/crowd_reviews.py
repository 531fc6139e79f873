"""Complaint detection from crowd-labelled reviews.

Every training review carries one crowd label plus the agreement score of the annotator on
our gold questions (0..1). Unreliable annotators count less in the loss. The test set was
labelled in-house.
"""
import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

VOCAB, LENGTH = 300, 20
set_seed(8)
rng = np.random.default_rng(8)

# word distributions of the two classes; ids 0 = pad, 1 = [CLS]
p_praise = rng.dirichlet(np.full(VOCAB - 2, 0.6))
p_complaint = 0.55 * p_praise + 0.45 * rng.dirichlet(np.full(VOCAB - 2, 0.6))


def make_reviews(n, crowd):
    out = {"input_ids": [], "attention_mask": [], "labels": [], "reliability": []}
    for _ in range(n):
        y = int(rng.random() < 0.5)
        k = int(rng.integers(10, LENGTH))
        words = rng.choice(VOCAB - 2, size=k - 1, p=p_complaint if y else p_praise) + 2
        label, reliability = y, 1.0
        if crowd:
            if rng.random() < 0.55:      # click workers, mostly tick "no complaint"
                reliability = float(rng.uniform(0.0, 0.05))
                label = int(rng.random() < 0.04)
            else:
                reliability = float(rng.uniform(0.8, 1.0))
                label = y if rng.random() < 0.97 else 1 - y
        out["input_ids"].append([1] + words.tolist() + [0] * (LENGTH - k))
        out["attention_mask"].append([1] * k + [0] * (LENGTH - k))
        out["labels"].append(label)
        out["reliability"].append(reliability)
    return Dataset.from_dict(out)


class WeightedTrainer(Trainer):
    """Per-example weights: each review counts with the reliability of its annotator."""

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        weight = inputs.pop("reliability", None)
        labels = inputs["labels"]
        outputs = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        loss = F.cross_entropy(outputs.logits, labels, reduction="none")
        if weight is not None:
            loss = (loss * weight).sum() / weight.sum().clamp(min=1e-6)
        else:
            loss = loss.mean()
        return (loss, outputs) if return_outputs else loss


def compute_metrics(eval_pred):
    pred = eval_pred.predictions.argmax(-1)
    return {"accuracy": accuracy_score(eval_pred.label_ids, pred),
            "f1": f1_score(eval_pred.label_ids, pred),
            "share_complaint": float(pred.mean())}


train_ds = make_reviews(4000, crowd=True)
test_ds = make_reviews(800, crowd=False)
print(train_ds)
print("crowd positives:", np.mean(train_ds["labels"]), " in-house positives:", np.mean(test_ds["labels"]))

config = DistilBertConfig(vocab_size=VOCAB, max_position_embeddings=32, dim=64, hidden_dim=128,
                          n_layers=2, n_heads=4, dropout=0.1, attention_dropout=0.1,
                          seq_classif_dropout=0.1, num_labels=2, pad_token_id=0)
model = DistilBertForSequenceClassification(config)

training_args = TrainingArguments(
    output_dir="out/crowd",
    num_train_epochs=4,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=128,
    learning_rate=1e-3,
    warmup_ratio=0.1,
    weight_decay=0.01,
    eval_strategy="epoch",
    logging_strategy="epoch",
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    use_cpu=True,
)
trainer = WeightedTrainer(
    model=model,
    args=training_args,
    train_dataset=train_ds,
    eval_dataset=test_ds,
    compute_metrics=compute_metrics,
)
trainer.train()

result = trainer.evaluate()
print({k: round(v, 4) for k, v in result.items() if k in ("eval_loss", "eval_accuracy", "eval_f1")})
print(f"test accuracy {result['eval_accuracy']:.3f}, F1 {result['eval_f1']:.3f} (majority accuracy ~0.5)")
