import tempfile

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import average_precision_score, f1_score
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(3)
rng = np.random.default_rng(3)
TOPICS = {
    "gpu": "cuda driver vram kernel card".split(),
    "cooking": "oven flour simmer garlic pan".split(),
    "travel": "visa airport hostel luggage train".split(),
    "finance": "loan broker dividend tax budget".split(),
    "pets": "leash kitten vet aquarium kibble".split(),
}
FILLER = [f"w{i}" for i in range(60)]
WORDS = ["[PAD]", "[CLS]"] + FILLER + [w for ws in TOPICS.values() for w in ws]
VOCAB = {w: i for i, w in enumerate(WORDS)}
MAXLEN = 28


def export_forum(n):
    rows, marks = [], []
    for post_id in range(n):
        on = rng.random(len(TOPICS)) < 0.35
        words = list(rng.choice(FILLER, size=rng.integers(6, 16)))
        for topic, flag in zip(TOPICS, on):
            if flag:
                words += list(rng.choice(TOPICS[topic], size=2, replace=False))
        rng.shuffle(words)
        rows.append({"post_id": post_id, "body": " ".join(words), "length": len(words)})
        marks.append({"post_id": post_id, **{t: int(f) for t, f in zip(TOPICS, on)}})
    return pd.DataFrame(rows).set_index("post_id"), pd.DataFrame(marks).set_index("post_id")


def encode(body):
    ids = [VOCAB["[CLS]"]] + [VOCAB[w] for w in body.split()][:MAXLEN - 1]
    pad = MAXLEN - len(ids)
    return ids + [0] * pad, [1] * len(ids) + [0] * pad


class PostSet(torch.utils.data.Dataset):
    def __init__(self, bodies, targets):
        self.enc = [encode(b) for b in bodies]
        self.targets = targets.astype("float32")

    def __len__(self):
        return len(self.enc)

    def __getitem__(self, i):
        ids, mask = self.enc[i]
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask),
                "labels": torch.tensor(self.targets[i])}


def metrics(pred):
    probs = 1 / (1 + np.exp(-pred.predictions))
    return {"micro_f1": f1_score(pred.label_ids, probs > 0.5, average="micro", zero_division=0),
            "map": average_precision_score(pred.label_ids, probs, average="macro")}


posts, tags = export_forum(1600)
posts = posts[posts["length"] >= 8].sort_values("length")
targets = tags.to_numpy()[:len(posts)]

split = rng.permutation(len(posts))
cut = int(0.8 * len(posts))
bodies = posts["body"].to_numpy()
train_set = PostSet(bodies[split[:cut]], targets[split[:cut]])
eval_set = PostSet(bodies[split[cut:]], targets[split[cut:]])

config = BertConfig(vocab_size=len(VOCAB), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=MAXLEN, num_labels=len(TOPICS),
                    problem_type="multi_label_classification", pad_token_id=0, hidden_dropout_prob=0.0)
args = TrainingArguments(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=8,
                         gradient_accumulation_steps=4, num_train_epochs=6, learning_rate=1e-3,
                         warmup_ratio=0.1, logging_steps=40, save_strategy="no", report_to="none",
                         use_cpu=True, disable_tqdm=True, seed=3)
trainer = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=train_set,
                  eval_dataset=eval_set, compute_metrics=metrics)
trainer.train()
result = trainer.evaluate()
print(f"eval loss {result['eval_loss']:.3f}  micro F1 {result['eval_micro_f1']:.3f}  mAP {result['eval_map']:.3f}")
print(f"tag rate {targets.mean():.3f}")
