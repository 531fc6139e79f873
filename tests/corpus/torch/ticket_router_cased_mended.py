"""Route help-desk tickets to one of four teams with a small BERT."""
import os
import tempfile

import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from transformers import (BertConfig, BertForSequenceClassification, BertTokenizer, DataCollatorWithPadding,
                          Trainer, TrainingArguments, set_seed)

set_seed(42)
rng = np.random.default_rng(42)

TEAMS = {
    "network": "WIFI VPN ROUTER CABLE SIGNAL FIREWALL LATENCY PROXY".split(),
    "hardware": "LAPTOP SCREEN KEYBOARD BATTERY PRINTER MOUSE DOCK FAN".split(),
    "accounts": "PASSWORD LOGIN EXPIRED LOCKED BADGE PERMISSION RESET USERNAME".split(),
    "billing": "INVOICE REFUND CHARGE PAYMENT RECEIPT VAT ORDER PRICE".split(),
}
COMMON = "PLEASE HELP MY IS NOT WORKING SINCE THE MORNING I CANNOT USE IT URGENT THANKS TEAM WITH AND".split()
NAMES = list(TEAMS)


def make_ticket(team):
    words = list(rng.choice(COMMON, rng.integers(6, 14)))
    words += list(rng.choice(TEAMS[NAMES[team]], 2))
    if rng.random() < 0.3:
        words += list(rng.choice(TEAMS[NAMES[rng.integers(4)]], 1))
    rng.shuffle(words)
    return " ".join(words)


y = rng.integers(0, 4, 2000)
raw = Dataset.from_dict({"text": [make_ticket(t) for t in y], "label": y.tolist()})
splits = raw.train_test_split(test_size=0.2, seed=42)

words = sorted({w for t in splits["train"]["text"] for w in t.lower().split()})
work = tempfile.mkdtemp()
vocab_file = os.path.join(work, "vocab.txt")
with open(vocab_file, "w") as fh:
    fh.write("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + words))

tokenizer = BertTokenizer(vocab_file, do_lower_case=True)
print("vocabulary:", len(tokenizer), "tokens")


def tokenize(batch):
    return tokenizer(batch["text"], truncation=True, max_length=32)


splits = splits.map(tokenize, batched=True, remove_columns=["text"])

config = BertConfig(
    vocab_size=len(tokenizer),
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    max_position_embeddings=40,
    num_labels=len(NAMES),
    id2label=dict(enumerate(NAMES)),
    label2id={n: i for i, n in enumerate(NAMES)},
)
model = BertForSequenceClassification(config)


def compute_metrics(pred):
    guess = pred.predictions.argmax(axis=1)
    return {"acc": accuracy_score(pred.label_ids, guess), "f1": f1_score(pred.label_ids, guess, average="macro")}


trainer = Trainer(
    model=model,
    args=TrainingArguments(
        work, num_train_epochs=5, per_device_train_batch_size=32, learning_rate=1e-3, warmup_ratio=0.1,
        eval_strategy="epoch", save_strategy="no", logging_steps=25, report_to="none", disable_tqdm=True,
        use_cpu=True,
    ),
    train_dataset=splits["train"],
    eval_dataset=splits["test"],
    processing_class=tokenizer,
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=compute_metrics,
)
trainer.train()
result = trainer.evaluate()
print(f"test accuracy {result['eval_acc']:.3f}  macro F1 {result['eval_f1']:.3f}")
