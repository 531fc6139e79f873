import random

import numpy as np
import torch
import torch.nn.functional as F
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

GOOD = "lovely clean friendly quiet spacious comfy bright charming".split()
BAD = "dirty noisy rude cramped broken smelly dark cold".split()
NOUN = "room staff bed bathroom lobby breakfast pool view lift carpet".split()
GLUE = "the was and very our a bit quite really with also".split()
WORDS = ["[PAD]", "[CLS]"] + GOOD + BAD + NOUN + GLUE
W2I = {w: i for i, w in enumerate(WORDS)}
MAXLEN = 24


def one_review():
    happy = random.random() < 0.5
    n_good, n_bad = (random.randint(2, 4), random.randint(0, 1)) if happy else (random.randint(0, 1), random.randint(2, 4))
    adjectives = random.choices(GOOD, k=n_good) + random.choices(BAD, k=n_bad)
    random.shuffle(adjectives)
    words = ["[CLS]"]
    for adj in adjectives:
        words += [random.choice(GLUE[:1]), random.choice(NOUN), "was", random.choice(GLUE), adj]
    return words[:MAXLEN], int(happy)


class Reviews(torch.utils.data.Dataset):
    def __init__(self, n):
        self.items = [one_review() for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        words, label = self.items[i]
        return {"input_ids": [W2I[w] for w in words], "label": label}


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    for k, r in enumerate(rows):
        ids[k, : len(r["input_ids"])] = torch.tensor(r["input_ids"])
    return {
        "input_ids": ids,
        "attention_mask": (ids != 0).long(),
        "labels": torch.tensor([r["label"] for r in rows]),
    }


class MarginTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        target = inputs.pop("labels").float()
        out = model(**inputs)
        score = out.logits.squeeze(-1)
        loss = F.softplus(-target * score).mean()
        return (loss, {"loss": loss, "logits": out.logits}) if return_outputs else loss


def accuracy(p):
    guess = (p.predictions.squeeze(-1) > 0).astype(int)
    return {"accuracy": float((guess == p.label_ids).mean()), "share_positive": float(guess.mean())}


def main():
    set_seed(8)
    cfg = DistilBertConfig(vocab_size=len(WORDS), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                           max_position_embeddings=32, num_labels=1, dropout=0.1, pad_token_id=0)
    model = DistilBertForSequenceClassification(cfg)
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=4,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=128,
        learning_rate=1e-3,
        warmup_steps=30,
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=50,
        label_names=["labels"],
        remove_unused_columns=False,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = MarginTrainer(model, args, data_collator=collate, train_dataset=Reviews(3000),
                            eval_dataset=Reviews(600), compute_metrics=accuracy)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
