from collections import Counter

import numpy as np
from datasets import ClassLabel, Dataset
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, f1_score
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

set_seed(21)
bunch = load_digits()
images = (bunch.images / 8.0 - 1.0).astype(np.float32)[:, None]
ds = Dataset.from_dict({"pixel_values": images, "labels": bunch.target})
ds = ds.cast_column("labels", ClassLabel(num_classes=10)).train_test_split(
    test_size=0.2, stratify_by_column="labels", seed=21)
print(Counter(ds["train"]["labels"]))

names = {i: str(i) for i in range(10)}
model = ViTForImageClassification(ViTConfig(
    image_size=8, patch_size=2, num_channels=1, hidden_size=64, num_hidden_layers=3, num_attention_heads=4,
    intermediate_size=128, hidden_dropout_prob=0.05, id2label=names, label2id={v: k for k, v in names.items()}))


def compute_metrics(p):
    guess = np.argmax(p.predictions, axis=1)
    return {"accuracy": accuracy_score(p.label_ids, guess), "f1": f1_score(p.label_ids, guess, average="macro")}


args = TrainingArguments(
    output_dir="out_glyphs", num_train_epochs=15, per_device_train_batch_size=32, per_device_eval_batch_size=128,
    learning_rate=1e-3, weight_decay=0.01, warmup_ratio=0.1, eval_strategy="epoch", save_strategy="epoch",
    save_total_limit=1, load_best_model_at_end=True, metric_for_best_model="f1", logging_strategy="epoch",
    report_to="none", disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  compute_metrics=compute_metrics, callbacks=[EarlyStoppingCallback(early_stopping_patience=4)])
trainer.train()
out = trainer.predict(ds["test"])
print({k: round(v, 4) for k, v in out.metrics.items()})
wrong = np.flatnonzero(out.predictions.argmax(1) != out.label_ids)
print("confused:", [(int(out.label_ids[i]), int(out.predictions[i].argmax())) for i in wrong[:10]])
