import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (DistilBertConfig, DistilBertForTokenClassification, Trainer,
                          TrainingArguments, set_seed)

set_seed(13)
rng = np.random.default_rng(13)
TAGS = ["O", "STREET", "NUMBER", "CITY"]
streets = ["oak", "maple", "king", "church", "station", "mill"]
suffix = ["street", "road", "lane"]
cities = ["leeds", "york", "bath", "derby", "truro", "king"]
noise = ["please", "send", "it", "to", "near", "the", "office", "thanks", "by", "friday"]
numbers = [str(i) for i in range(1, 40)]
vocab = {w: i + 3 for i, w in enumerate(sorted(set(streets + suffix + cities + noise + numbers)))}
vocab.update({"[PAD]": 0, "[CLS]": 1, "[SEP]": 2})


def sentence():
    toks, tags = [], []

    def put(word, tag):
        toks.append(word)
        tags.append(TAGS.index(tag))

    for _ in range(rng.integers(1, 6)):
        put(rng.choice(noise), "O")
    put(rng.choice(numbers), "NUMBER")
    put(rng.choice(streets), "STREET")
    put(rng.choice(suffix), "STREET")
    if rng.random() < 0.7:
        put(rng.choice(cities), "CITY")
    for _ in range(rng.integers(0, 5)):
        put(rng.choice(noise + numbers[:5]), "O")
    return toks, tags


class AddressData(Dataset):
    def __init__(self, n, max_len=24):
        self.items = []
        for _ in range(n):
            toks, tags = sentence()
            ids = [1] + [vocab[t] for t in toks] + [2]
            labels = [-100] + tags + [-100]
            gap = max_len - len(ids)
            self.items.append({
                "input_ids": torch.tensor(ids + [0] * gap),
                "attention_mask": torch.tensor([1] * len(ids) + [0] * gap),
                "labels": torch.tensor(labels + [-100] * gap),
            })

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    preds = np.argmax(logits, axis=-1)
    real = labels >= 0
    return {"token_accuracy": float((preds == labels).mean()),
            "n_tokens": int(real.sum())}


config = DistilBertConfig(vocab_size=len(vocab), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                          max_position_embeddings=24, num_labels=len(TAGS),
                          id2label=dict(enumerate(TAGS)))
model = DistilBertForTokenClassification(config)

args = TrainingArguments(
    output_dir="address_tagger_out", num_train_epochs=4, per_device_train_batch_size=32,
    per_device_eval_batch_size=64, learning_rate=1e-3, eval_strategy="epoch",
    save_strategy="no", logging_steps=50, report_to=[], use_cpu=True, disable_tqdm=True)

train, valid = AddressData(1600), AddressData(300)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid,
                  compute_metrics=compute_metrics)
trainer.train()
result = trainer.evaluate()
all_labels = torch.stack([r["labels"] for r in valid.items])
share_o = ((all_labels == 0).sum() / (all_labels >= 0).sum()).item()
print("eval loss", round(result["eval_loss"], 4))
print("token accuracy", round(result["eval_token_accuracy"], 4), "always-O baseline", round(share_o, 4))
