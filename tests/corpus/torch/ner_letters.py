# NER on letters: who (PER), where (LOC), which firm (ORG). Fine-tuning the small DistilBERT.
import random

import numpy as np
import torch
from datasets import Dataset
from transformers import (AutoModelForTokenClassification, AutoTokenizer, DataCollatorForTokenClassification, Trainer,
                          TrainingArguments, set_seed)

set_seed(1)
MAXLEN = 96
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"]
tag2id = {t: i for i, t in enumerate(TAGS)}

syllables = "ka zo bel mir tun dra vex lin os ju ner qui fal gor ely sta wu hep ric om".split()


def invented(low, high):
    return "".join(random.choices(syllables, k=random.randint(low, high))).capitalize()


templates = [
    "yesterday {PER} met a guest from {LOC} in the garden",
    "the letter by {PER} was sent to {ORG} on Monday",
    "{ORG} has moved from {LOC} to {LOC} , says {PER}",
    "in {LOC} the nurse and {PER} are waiting for the train",
    "{PER} and {PER} travel by water to {LOC}",
    "nobody at {ORG} has seen the carpenter or {PER}",
    "the baker is late , the tailor is in {LOC}",
]
fill = {
    "PER": lambda: f"{invented(1, 3)} {invented(2, 4)}" if random.random() < 0.7 else invented(1, 3),
    "LOC": lambda: random.choice(["Port ", "Upper ", "", ""]) + invented(2, 4),
    "ORG": lambda: invented(2, 3) + random.choice([" Foods", " Freight", " Timber Group"]),
}


def sentence():
    words, tags = [], []
    for piece in random.choice(templates).split():
        kind = piece.strip("{}")
        if kind in fill:
            name = fill[kind]().split()
            words += name
            tags += [tag2id["B-" + kind]] + [tag2id["I-" + kind]] * (len(name) - 1)
        else:
            words.append(piece)
            tags.append(0)
    return {"words": words, "tags": tags}


tokenizer = AutoTokenizer.from_pretrained("assets/distilbert-mini")


def encode(example):
    enc = tokenizer(example["words"], is_split_into_words=True, truncation=True, max_length=MAXLEN)
    n = len(enc["input_ids"])
    labels = [-100] + example["tags"]
    labels = labels[:n] + [-100] * (n - len(labels))
    enc["labels"] = labels
    return enc


train_raw = Dataset.from_list([sentence() for _ in range(1500)])
valid_raw = Dataset.from_list([sentence() for _ in range(250)])
train = train_raw.map(encode, remove_columns=["words", "tags"])
valid = valid_raw.map(encode, remove_columns=["words", "tags"])

model = AutoModelForTokenClassification.from_pretrained(
    "assets/distilbert-mini", num_labels=len(TAGS), id2label=dict(enumerate(TAGS)), label2id=tag2id
)


def scores(guess, truth):
    hit = ((guess == truth) & (truth != 0)).sum()
    precision = hit / max((guess != 0).sum(), 1)
    recall = hit / max((truth != 0).sum(), 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {"accuracy": (guess == truth).mean(), "f1": f1}


def compute_metrics(p):
    keep = p.label_ids != -100
    return scores(p.predictions.argmax(-1)[keep], p.label_ids[keep])


trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="ner", learning_rate=1e-4, per_device_train_batch_size=16, per_device_eval_batch_size=50, num_train_epochs=2,
        logging_steps=25, eval_strategy="epoch", save_strategy="no", report_to="none", disable_tqdm=True,
    ),
    train_dataset=train,
    eval_dataset=valid,
    data_collator=DataCollatorForTokenClassification(tokenizer),
    compute_metrics=compute_metrics,
)
trainer.train()

# now the way it will be used: tag the words of a new letter, a word gets the tag of its first piece
model.eval()
guess, truth = [], []
for row in valid_raw:
    enc = tokenizer(row["words"], is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        tags = model(**enc).logits[0].argmax(-1).tolist()
    guess += [tags[enc.word_to_tokens(w).start] for w in range(len(row["words"]))]
    truth += row["tags"]
print("words:", scores(np.array(guess), np.array(truth)))
print([(w, TAGS[t]) for w, t in zip(row["words"], guess[-len(row["words"]):])])
