"""Multi-label tagging of recipe titles with a small DistilBERT trained from scratch."""
import numpy as np
import torch
from sklearn.metrics import f1_score, precision_score, recall_score
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

TAGS = ["spicy", "vegan", "quick", "dessert", "party", "winter", "healthy", "cheap"]
N_WORDS, LENGTH = 120, 14


class RecipeDataset(torch.utils.data.Dataset):
    """Titles as word ids; annotators tick the tags, and do not always agree."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        cues = np.random.default_rng(77).permutation(np.arange(4, N_WORDS))[: 5 * len(TAGS)]
        self.cues = cues.reshape(len(TAGS), 5)
        ids = rng.choice(np.setdiff1d(np.arange(4, N_WORDS), cues), (n, LENGTH))
        present = rng.random((n, len(TAGS))) < 0.3
        for i in range(n):
            slots = rng.permutation(np.arange(1, LENGTH))
            for s, k in zip(slots, np.flatnonzero(present[i])):
                ids[i, s] = rng.choice(self.cues[k])
        ids[:, 0] = 1
        tick = np.where(present, 0.6, 0.04)
        labels = rng.random((n, len(TAGS))) < tick
        self.ids = torch.tensor(ids)
        self.labels = torch.tensor(labels, dtype=torch.float32)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(LENGTH, dtype=torch.long),
                "labels": self.labels[i]}


def scores(y, pred):
    return {"precision": precision_score(y, pred, average="micro", zero_division=0),
            "recall": recall_score(y, pred, average="micro", zero_division=0),
            "f1": f1_score(y, pred, average="micro", zero_division=0)}


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    pred = (logits > 0.5).astype(int)
    return scores(labels.astype(int), pred)


def build_model():
    config = DistilBertConfig(
        vocab_size=N_WORDS, initializer_range=0.06, dim=64, n_layers=2, n_heads=4, hidden_dim=128,
        max_position_embeddings=32, dropout=0.1, seq_classif_dropout=0.1,
        num_labels=len(TAGS), problem_type="multi_label_classification",
        id2label=dict(enumerate(TAGS)), label2id={t: i for i, t in enumerate(TAGS)})
    return DistilBertForSequenceClassification(config)


def main():
    set_seed(21)
    train, test = RecipeDataset(4000, 1), RecipeDataset(1000, 2)
    args = TrainingArguments(
        output_dir="out/recipes",
        num_train_epochs=6,
        per_device_train_batch_size=64,
        per_device_eval_batch_size=250,
        learning_rate=2e-3,
        lr_scheduler_type="cosine",
        warmup_ratio=0.1,
        weight_decay=0.01,
        eval_strategy="epoch",
        save_strategy="no",
        logging_strategy="epoch",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=build_model(), args=args, train_dataset=train, eval_dataset=test,
                      compute_metrics=compute_metrics)
    trainer.train()
    m = trainer.evaluate()
    y = test.labels.numpy().astype(int)
    ones = scores(y, np.ones_like(y))
    print("test  precision {eval_precision:.3f}  recall {eval_recall:.3f}  micro-F1 {eval_f1:.3f}".format(**m))
    print(f"tick-everything micro-F1 {ones['f1']:.3f}")


if __name__ == "__main__":
    main()
