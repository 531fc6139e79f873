"""Flag suspicious claim notes (about 4 percent of them) with a weighted loss in a Trainer subclass."""
import random
import tempfile

import numpy as np
import torch
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

PLAIN = "claim car water roof damage date police photo sent repaired customer called bumper pipe storm garage letter agent visit".split()
SIGNALS = [("receipt", "missing"), ("story", "changed"), ("third", "claim"), ("cash", "only"), ("photo", "reused")]
SINGLES = sorted({w for pair in SIGNALS for w in pair})
WORDS = {w: i + 2 for i, w in enumerate(sorted(set(PLAIN) | set(SINGLES)))}
LENGTH = 20


def note(rng, bad):
    words = [rng.choice(PLAIN) if rng.random() < 0.97 else rng.choice(SINGLES) for _ in range(rng.randint(10, 15))]
    if bad:
        for pair in rng.sample(SIGNALS, 2):
            k = rng.randrange(len(words) + 1)
            words[k:k] = pair
    return words[: LENGTH - 1]


def dataset(n, seed):
    rng = random.Random(seed)
    ids, masks, labels = [], [], []
    for _ in range(n):
        bad = rng.random() < 0.04
        row = [1] + [WORDS[w] for w in note(rng, bad)]
        masks.append([1] * len(row) + [0] * (LENGTH - len(row)))
        ids.append(row + [0] * (LENGTH - len(row)))
        labels.append(int(bad))
    return Dataset.from_dict({"input_ids": ids, "attention_mask": masks, "labels": labels})


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weights, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weights = class_weights

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        out = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"])
        loss = torch.nn.functional.cross_entropy(out.logits, labels, weight=self.class_weights)
        return (loss, out) if return_outputs else loss


def compute_metrics(p):
    pred, gold = p.predictions.argmax(-1), p.label_ids
    tp = int(((pred == 1) & (gold == 1)).sum())
    precision = tp / max(1, int((pred == 1).sum()))
    recall = tp / max(1, int((gold == 1).sum()))
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    balanced = (recall + float((pred[gold == 0] == 0).mean())) / 2
    return {"f1": f1, "precision": precision, "recall": recall, "balanced_accuracy": balanced}


def main():
    set_seed(2)
    train, test = dataset(5000, 0), dataset(2000, 1)
    counts = np.bincount(train["labels"], minlength=2)
    weights = torch.tensor(counts.sum() / (2.0 * counts), dtype=torch.float32)
    print("class counts", counts, "weights", weights.tolist())
    model = DistilBertForSequenceClassification(
        DistilBertConfig(vocab_size=len(WORDS) + 2, dim=48, n_layers=2, n_heads=4, hidden_dim=96,
                         max_position_embeddings=LENGTH, num_labels=2)
    )
    with tempfile.TemporaryDirectory() as out:
        args = TrainingArguments(
            output_dir=out, num_train_epochs=5, per_device_train_batch_size=32, per_device_eval_batch_size=250,
            learning_rate=8e-4, warmup_ratio=0.1, eval_strategy="epoch", save_strategy="epoch", save_total_limit=1,
            load_best_model_at_end=True, metric_for_best_model="f1", logging_steps=100, report_to="none",
            disable_tqdm=True, use_cpu=True,
        )
        trainer = WeightedTrainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                                  compute_metrics=compute_metrics, class_weights=weights)
        trainer.train()
        print({k: round(v, 3) for k, v in trainer.evaluate().items()})


if __name__ == "__main__":
    main()
