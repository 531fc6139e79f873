"""Several tags per recipe, from its ingredient list."""
import numpy as np
import torch
import torch.nn as nn
from datasets import Dataset
from transformers import Trainer, TrainingArguments

TAGS = ["vegan", "spicy", "sweet", "quick", "baked", "asian", "italian", "breakfast"]
SIGNAL = {
    "vegan": ["tofu", "lentil", "chickpea", "seitan"],
    "spicy": ["chili", "cayenne", "jalapeno", "harissa"],
    "sweet": ["sugar", "honey", "syrup", "chocolate"],
    "quick": ["wrap", "instant", "canned", "microwave"],
    "baked": ["flour", "yeast", "oven", "dough"],
    "asian": ["soy", "ginger", "sesame", "noodle"],
    "italian": ["basil", "pasta", "parmesan", "oregano"],
    "breakfast": ["oats", "egg", "toast", "granola"],
}
FILLER = ["salt", "water", "oil", "onion", "garlic", "pepper", "butter", "stock", "lemon", "parsley", "pan", "bowl"]
VOCAB = {w: i + 1 for i, w in enumerate(FILLER + sum(SIGNAL.values(), []))}
LENGTH = 20


def write_recipes(n, rng):
    out = {"text": [], "labels": []}
    for _ in range(n):
        k = rng.integers(1, 5)
        tags = rng.choice(len(TAGS), size=k, replace=False)
        words = []
        for t in tags:
            words += list(rng.choice(SIGNAL[TAGS[t]], size=rng.integers(1, 4)))
        words += list(rng.choice(FILLER, size=rng.integers(3, 8)))
        if rng.random() < 0.1:
            words.append(rng.choice(list(VOCAB)))
        rng.shuffle(words)
        out["text"].append(" ".join(words))
        out["labels"].append([float(i in tags) for i in range(len(TAGS))])
    return Dataset.from_dict(out)


def encode(batch):
    ids = []
    for text in batch["text"]:
        row = [VOCAB[w] for w in text.split()][:LENGTH]
        ids.append(row + [0] * (LENGTH - len(row)))
    return {"input_ids": ids}


class Tagger(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.bag = nn.EmbeddingBag(len(VOCAB) + 1, dim, mode="sum", padding_idx=0)
        self.net = nn.Sequential(nn.Linear(dim, 96), nn.GELU(), nn.Dropout(0.1), nn.Linear(96, len(TAGS)))

    def forward(self, input_ids, labels=None):
        probs = torch.softmax(self.net(self.bag(input_ids)), dim=-1)
        loss = None
        if labels is not None:
            loss = nn.functional.binary_cross_entropy(probs, labels.float())
        return {"loss": loss, "logits": probs}


def compute_metrics(p):
    pred = p.predictions > 0.5
    gold = p.label_ids > 0.5
    tp = (pred & gold).sum()
    f1 = 2 * tp / max(pred.sum() + gold.sum(), 1)
    return {"micro_f1": float(f1), "exact": float((pred == gold).all(1).mean())}


if __name__ == "__main__":
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    train = write_recipes(5000, rng).map(encode, batched=True, remove_columns="text")
    test = write_recipes(800, rng).map(encode, batched=True, remove_columns="text")
    args = TrainingArguments(
        output_dir="out", num_train_epochs=8, per_device_train_batch_size=50,
        per_device_eval_batch_size=200, learning_rate=3e-3, eval_strategy="epoch", save_strategy="no",
        logging_strategy="epoch", report_to="none", use_cpu=True, seed=5, disable_tqdm=True,
    )
    trainer = Trainer(model=Tagger(), args=args, train_dataset=train, eval_dataset=test, compute_metrics=compute_metrics)
    trainer.train()
    print(trainer.evaluate())
