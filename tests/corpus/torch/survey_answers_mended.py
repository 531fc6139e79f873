# Sentiment of free-text survey answers; tokenisation is done on the fly in the collator.
import argparse
import random

import numpy as np
import torch
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

GOOD = "great friendly quick helpful clean tasty lovely smooth".split()
BAD = "awful rude slow useless dirty bland horrid noisy".split()
NEUTRAL = "the staff room food service was and very we found it on our visit to this place".split()


def build_rows(n, seed):
    rng = random.Random(seed)
    answers, labels = [], []
    for _ in range(n):
        y = rng.randint(0, 1)
        words = rng.choices(NEUTRAL, k=rng.randint(5, 12))
        for _ in range(rng.randint(1, 3)):
            negated = rng.random() < 0.15
            pool = (BAD if y else GOOD) if negated else (GOOD if y else BAD)
            phrase = (["not"] if negated else []) + [rng.choice(pool)]
            at = rng.randrange(len(words) + 1)
            while 0 < at < len(words) and words[at - 1] == "not":
                at = rng.randrange(len(words) + 1)
            words[at:at] = phrase
        answers.append(" ".join(words))
        labels.append(y)
    return Dataset.from_dict({"answer": answers, "label": labels})


class WordTokenizer:
    def __init__(self, texts):
        words = sorted({w for t in texts for w in t.split()})
        self.table = {"<pad>": 0, "<cls>": 1, "<unk>": 2}
        for w in words:
            self.table[w] = len(self.table)

    def __len__(self):
        return len(self.table)

    def encode(self, text):
        return [1] + [self.table.get(w, 2) for w in text.split()]


class AnswerCollator:
    def __init__(self, tok):
        self.tok = tok

    def __call__(self, rows):
        enc = [self.tok.encode(r["answer"]) for r in rows]
        longest = max(map(len, enc))
        ids = torch.tensor([e + [0] * (longest - len(e)) for e in enc])
        return {
            "input_ids": ids,
            "attention_mask": (ids != 0).long(),
            "labels": torch.tensor([r["label"] for r in rows]),
        }


def accuracy(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float(np.mean(logits.argmax(-1) == labels))}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--batch", type=int, default=32)
    opt = ap.parse_args()

    torch.manual_seed(0)
    train, test = build_rows(3000, 0), build_rows(500, 1)
    tok = WordTokenizer(train["answer"])
    model = DistilBertForSequenceClassification(
        DistilBertConfig(vocab_size=len(tok), dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=40, num_labels=2)
    )
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=opt.epochs,
        per_device_train_batch_size=opt.batch,
        per_device_eval_batch_size=100,
        learning_rate=opt.lr,
        warmup_ratio=0.1,
        eval_strategy="epoch",
        save_strategy="no",
        remove_unused_columns=False,
        logging_steps=50,
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=train, eval_dataset=test,
        data_collator=AnswerCollator(tok), compute_metrics=accuracy,
    )
    trainer.train()
    print("final accuracy", trainer.evaluate()["eval_accuracy"])


if __name__ == "__main__":
    main()
