import random

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments, set_seed

CHECKPOINT = "assets/distilbert-mini"
PEOPLE = ["nurse", "doctor", "lawyer", "baker", "farmer", "student", "teacher", "librarian"]
FACTS = {
    "leaves on {}": ["Monday", "Tuesday", "Wednesday", "Friday", "Sunday"],
    "travels by {}": ["bus", "tram", "taxi"],
    "is in the {}": ["library", "attic", "garage", "office", "cellar", "meadow"],
    "loves {}": ["chess", "football", "poetry", "jazz"],
    "is {}": ["tall", "young", "happy", "hungry", "polite"],
}


def example(rng):
    travellers = rng.sample(PEOPLE, 2)
    facts = []
    for who in travellers:
        pattern = rng.choice(list(FACTS))
        facts.append((who, pattern, rng.choice(FACTS[pattern])))
    first = " ".join(f"The {who} {pattern.format(value)}." for who, pattern, value in facts)
    who, pattern, value = rng.choice(facts)
    label = rng.randint(0, 1)
    if label == 1:
        pattern = rng.choice([p for p in FACTS if p not in [f[1] for f in facts]])
        value = rng.choice(FACTS[pattern])
    return first, f"The {who} {pattern.format(value)}.", label


class Pairs(Dataset):
    def __init__(self, n, seed, tokenizer):
        rng = random.Random(seed)
        first, second, self.labels = zip(*[example(rng) for _ in range(n)])
        self.encodings = tokenizer(list(first), list(second), padding="max_length", max_length=96, truncation=True)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        item = {
            "input_ids": torch.tensor(self.encodings["input_ids"][i]),
        }
        item["labels"] = torch.tensor(self.labels[i])
        return item


def accuracy(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=-1) == p.label_ids).mean())}


def main():
    set_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    model = AutoModelForSequenceClassification.from_pretrained(CHECKPOINT, num_labels=2)
    args = TrainingArguments(
        output_dir="pairs_out",
        per_device_train_batch_size=16,
        per_device_eval_batch_size=64,
        num_train_epochs=1,
        learning_rate=5e-5,
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=10,
        report_to="none",
    )
    trainer = Trainer(model=model, args=args, train_dataset=Pairs(800, 1, tokenizer), eval_dataset=Pairs(200, 2, tokenizer),
                      compute_metrics=accuracy)
    trainer.train()
    print("final:", trainer.evaluate()["eval_accuracy"])


if __name__ == "__main__":
    main()
