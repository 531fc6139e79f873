"""Star ratings for quilt pattern comments: would a customer recommend the pattern?"""
import os

os.environ["USE_TF"] = "0"
import numpy as np
import pandas as pd
import torch
from sklearn.metrics import f1_score
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(8)
rng = np.random.default_rng(8)

PRAISE = "lovely clear crisp neat generous accurate gorgeous quick fun precise".split()
BLAME = "confusing sloppy missing wrong torn dull vague puckered crooked wasteful".split()
PLAIN = "pattern block border seam fabric template quilt star log cabin page arrived my first sewed for sister it".split()


def load_shop_export(n=1600):
    ids = rng.permutation(np.arange(10_000, 10_000 + n))
    happy = rng.random(n) < 0.5
    texts = []
    for good in happy:
        words = list(rng.choice(PLAIN, rng.integers(4, 10))) + list(rng.choice(PRAISE if good else BLAME, 2))
        rng.shuffle(words)
        texts.append(" ".join(words))
    comments = pd.DataFrame({"order_id": ids, "comment": texts})
    stars = pd.DataFrame({"order_id": np.repeat(ids, 3)})
    stars["star"] = np.where(np.repeat(happy, 3), rng.integers(3, 6, 3 * n), rng.integers(1, 4, 3 * n))
    return comments, stars.sample(frac=1, random_state=1)


comments, stars = load_shop_export()
mean_star = stars.groupby("order_id")["star"].mean().reset_index()
comments["label"] = (mean_star["star"] >= 3).astype(int)
print(comments["label"].value_counts().to_dict())

vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2}
for text in comments["comment"][:1300]:
    for word in text.split():
        vocab.setdefault(word, len(vocab))


def encode(text, length=14):
    ids = [2] + [vocab.get(w, 1) for w in text.split()][: length - 1]
    pad = length - len(ids)
    return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad}


class Comments(torch.utils.data.Dataset):
    def __init__(self, frame):
        self.rows = [dict(encode(c), labels=int(l)) for c, l in zip(frame["comment"], frame["label"])]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {k: torch.tensor(v) for k, v in self.rows[i].items()}


def metrics(p):
    guess = p.predictions.argmax(-1)
    return {"accuracy": float((guess == p.label_ids).mean()), "f1": f1_score(p.label_ids, guess)}


config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=16, num_labels=2)
args = TrainingArguments(output_dir="quilters_out", num_train_epochs=4, per_device_train_batch_size=32, learning_rate=1e-3,
                         eval_strategy="epoch", logging_strategy="epoch", save_strategy="no", report_to="none",
                         use_cpu=True, disable_tqdm=True, seed=8)
trainer = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=Comments(comments[:1300]),
                  eval_dataset=Comments(comments[1300:]), compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
