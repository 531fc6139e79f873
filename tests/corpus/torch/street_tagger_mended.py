import random
import tempfile

import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (DistilBertConfig, DistilBertForTokenClassification, Trainer,
                          TrainingArguments, set_seed)

set_seed(5)
random.seed(5)

LABELS = ["O", "B-STREET", "I-STREET", "B-TOWN"]
FILLER = ("please send the parcel to or bring it by noon we live at near behind old new house my "
          "sister works there and ask for keys ring twice leave with neighbour on in from").split()
NAMES = "oak river mill high king abbey station church park bridge rose market".split()
KINDS = "street road lane avenue".split()
TOWNS = "harlow denby oakham ripley thirsk wells marlow bury".split()
WORDS = ["[PAD]", "[UNK]"] + sorted(set(FILLER + NAMES + KINDS + TOWNS))
IDS = {w: i for i, w in enumerate(WORDS)}
MAX_LEN = 40


def sentence():
    words, tags = [], []

    def filler(lo, hi):
        for _ in range(random.randint(lo, hi)):
            # names also turn up as ordinary words
            words.append(random.choice(FILLER + NAMES) if random.random() < 0.5 else random.choice(FILLER))
            tags.append(0)

    filler(1, 5)
    if random.random() < 0.7:
        n = random.randint(1, 2)
        for k in range(n):
            words.append(random.choice(NAMES))
            tags.append(1 if k == 0 else 2)
        words.append(random.choice(KINDS))
        tags.append(2)
        filler(0, 2)
    if random.random() < 0.5:
        words.append(random.choice(TOWNS))
        tags.append(3)
    filler(0, 3)
    return words, tags


class AddressDataset(Dataset):
    def __init__(self, n):
        self.rows = [self.encode(*sentence()) for _ in range(n)]

    def encode(self, words, tags):
        ids = [IDS.get(w, 1) for w in words][:MAX_LEN]
        pad = MAX_LEN - len(ids)
        return {
            "input_ids": torch.tensor(ids + [0] * pad),
            "attention_mask": torch.tensor([1] * len(ids) + [0] * pad),
            "labels": torch.tensor(tags[:MAX_LEN] + [-100] * pad),
        }

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def compute_metrics(pred):
    guess = np.argmax(pred.predictions, axis=-1)
    keep = pred.label_ids != -100
    acc = (guess[keep] == pred.label_ids[keep]).mean()
    return {"token_accuracy": float(acc)}


config = DistilBertConfig(vocab_size=len(WORDS), dim=48, hidden_dim=96, n_layers=1, n_heads=4,
                          max_position_embeddings=MAX_LEN, num_labels=len(LABELS),
                          id2label=dict(enumerate(LABELS)), pad_token_id=0)
model = DistilBertForTokenClassification(config)

args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    num_train_epochs=3,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=1e-3,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=25,
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=AddressDataset(2000),
                  eval_dataset=AddressDataset(400), compute_metrics=compute_metrics)
trainer.train()
print("final:", trainer.evaluate())

text = "we live at old mill lane near ripley".split()
batch = {k: v[None] for k, v in trainer.eval_dataset.encode(text, [0] * len(text)).items() if k != "labels"}
model.eval()
with torch.no_grad():
    tags = model(**batch).logits.argmax(-1)[0, :len(text)].tolist()
print(list(zip(text, [LABELS[t] for t in tags])))
