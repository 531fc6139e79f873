import random
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(21)
MAX_LEN = 96
routes = ["late", "driver", "seat", "ticket"]
cues = {
    "late": ["delayed", "waited", "timetable", "missed"],
    "driver": ["rude", "polite", "braked", "helped"],
    "seat": ["torn", "sticky", "cushion", "legroom"],
    "ticket": ["fare", "refund", "charged", "machine"],
}
common = ("the bus on my way to work this morning i was and it then they said nothing at stop near again "
          "today yesterday people some really just please thank you line number evening").split()


def comment(label):
    words = [random.choice(common) for _ in range(random.randint(2, 7))]
    words.insert(random.randrange(len(words) + 1), random.choice(cues[routes[label]]))
    return " ".join(words)


labels = [random.randrange(4) for _ in range(1000)]
texts = [comment(l) for l in labels]
vocab = {"<pad>": 0, "<unk>": 1, "<cls>": 2}
for t in texts[:800]:
    for w in t.split():
        vocab.setdefault(w, len(vocab))


def encode(text):
    ids = [2] + [vocab.get(w, 1) for w in text.split()]
    ids = ids[:MAX_LEN]
    mask = [1] * len(ids) + [0] * (MAX_LEN - len(ids))
    return ids + [0] * (MAX_LEN - len(ids)), mask


class FeedbackDataset(Dataset):
    def __init__(self, texts, labels):
        self.rows = [encode(t) for t in texts]
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        ids, mask = self.rows[i]
        return {"input_ids": torch.tensor(ids), "labels": torch.tensor(self.labels[i])}


config = BertConfig(vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                    intermediate_size=64, max_position_embeddings=MAX_LEN, num_labels=4, pad_token_id=0)
model = BertForSequenceClassification(config)
args = TrainingArguments(output_dir="bus", num_train_epochs=5, per_device_train_batch_size=16, learning_rate=1e-3,
                         eval_strategy="epoch", logging_strategy="epoch", save_strategy="no", report_to="none", seed=21)


def metrics(p):
    return {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))}


trainer = Trainer(model=model, args=args, train_dataset=FeedbackDataset(texts[:800], labels[:800]),
                  eval_dataset=FeedbackDataset(texts[800:], labels[800:]), compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
