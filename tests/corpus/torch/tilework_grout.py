import numpy as np
from datasets import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

set_seed(1)
g = np.random.default_rng(1)
MOTIFS = ["plain", "border", "stripe", "quarter", "dot"]


def tile(kind):
    a, b = np.mgrid[0:16, 0:16]
    if kind == "plain":
        m = np.zeros((16, 16))
    elif kind == "border":
        m = (np.minimum(np.minimum(a, b), np.minimum(15 - a, 15 - b)) < 2).astype(float)
    elif kind == "stripe":
        m = (a // 4) % 2
    elif kind == "quarter":
        m = ((a < 8) & (b < 8)).astype(float)
    else:
        m = (np.hypot(a - 7.5, b - 7.5) < 4).astype(float)
    glaze = g.uniform(0.3, 1.0, (3, 1, 1))
    return glaze * (m - 0.5) * 2 + 0.4 * g.standard_normal((3, 16, 16))


y = g.integers(0, len(MOTIFS), 1400)
x = [tile(MOTIFS[k]).astype("float32") for k in y]
data = Dataset.from_dict({"pixel_values": x, "labels": y.tolist()}).with_format("torch")
data = data.train_test_split(test_size=200, seed=1)

config = ViTConfig(image_size=16, patch_size=4, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                   intermediate_size=128, num_labels=len(MOTIFS), hidden_dropout_prob=0.0)
model = ViTForImageClassification(config)
args = TrainingArguments(
    output_dir="out/tilework",
    num_train_epochs=6,
    per_device_train_batch_size=64,
    learning_rate=8e-4,
    warmup_steps=10000,
    weight_decay=0.05,
    logging_steps=20,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


trainer = Trainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                  compute_metrics=accuracy)
trainer.train()
print(trainer.evaluate())
