"""Multi-label topics for short messages: a message may be about several topics or about none of them."""
import random

import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from sklearn.metrics import f1_score
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer,
                          TrainingArguments, set_seed)

set_seed(42)

TOPICS = {
    "food": ["bread", "cheese", "soup", "tea", "pear", "coffee"],
    "travel": ["train", "harbour", "boat", "lorry", "ticket", "bicycle"],
    "music": ["guitar", "drum", "jazz", "violin", "song", "piano"],
    "work": ["office", "meeting", "boss", "letter", "contract", "desk"],
    "home": ["kitchen", "garden", "attic", "lamp", "blanket", "door"],
}
FILLER = "the a and was with my for we on it had very today again then our some really nice about that this".split()
names = list(TOPICS)


def message():
    # most messages have no topic or one, a few have more
    n = random.choices([0, 1, 2, 3], weights=[4, 4, 2, 1])[0]
    chosen = random.sample(names, n)
    words = random.choices(FILLER, k=random.randint(3, 8))
    for topic in chosen:
        words.insert(random.randrange(len(words)), random.choice(TOPICS[topic]))
    return {"text": " ".join(words), "labels": [1.0 if t in chosen else 0.0 for t in names]}


tokenizer = AutoTokenizer.from_pretrained("assets/distilbert-mini")


def build(n):
    ds = Dataset.from_list([message() for _ in range(n)])
    return ds.map(lambda x: tokenizer(x["text"], truncation=True, max_length=48), batched=True, remove_columns=["text"])


train, test = build(2400), build(400)

model = AutoModelForSequenceClassification.from_pretrained(
    "assets/distilbert-mini", num_labels=len(names), problem_type="multi_label_classification"
)


class TopicTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.cross_entropy(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss


def compute_metrics(p):
    probs = torch.sigmoid(torch.from_numpy(p.predictions)).numpy()
    guess = (probs > 0.5).astype(int)
    truth = p.label_ids.astype(int)
    return {
        "micro_f1": f1_score(truth, guess, average="micro", zero_division=0),
        "exact": float(np.mean((guess == truth).all(1))),
        "topics_per_text": guess.sum(1).mean(),
    }


args = TrainingArguments(
    output_dir="topics",
    learning_rate=1e-4,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=100,
    num_train_epochs=4,
    warmup_ratio=0.1,
    logging_steps=40,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
trainer = TopicTrainer(
    model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=compute_metrics,
    data_collator=DataCollatorWithPadding(tokenizer),
)
trainer.train()
print({k: round(v, 3) for k, v in trainer.evaluate().items() if "topics" in k or "f1" in k or "exact" in k})
