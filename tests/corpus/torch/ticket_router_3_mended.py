"""Route support tickets to teams with a small DistilBERT trained from scratch."""
import random
import re

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers, processors
from transformers import (DataCollatorWithPadding, DistilBertConfig,
                          DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments,
                          set_seed)

set_seed(13)
rng = random.Random(13)

TEAMS = {
    "billing": ["invoice", "refund", "charged", "payment", "card", "amount"],
    "shipping": ["parcel", "courier", "tracking", "delivery", "address", "late"],
    "account": ["password", "login", "email", "locked", "reset", "username"],
    "hardware": ["screen", "battery", "keyboard", "broken", "charger", "noise"],
}
FILLER = "hello please the my is was i need help with since about again team thanks still not".split()
NAMES = list(TEAMS)


def make_ticket(team):
    words = rng.choices(FILLER, k=rng.randint(6, 12))
    words += rng.choices(TEAMS[team], k=2)
    other = rng.choice([t for t in NAMES if t != team])
    words += rng.choices(TEAMS[other], k=1)
    if rng.random() < 0.5:
        words.append("%d.%02d EUR" % (rng.randint(3, 300), rng.randint(0, 99)))
    if rng.random() < 0.5:
        words.append("2024-%02d-%02d" % (rng.randint(1, 12), rng.randint(1, 28)))
    rng.shuffle(words)
    return " ".join(words)


def scrub(text):
    text = re.sub(r"\d+\.\d\d EUR", "<money>", text)
    return re.sub(r"\d{4}-\d\d-\d\d", "<date>", text)


def build_tokenizer(texts):
    raw = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.train_from_iterator(texts, trainers.WordLevelTrainer(
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    raw.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]",
                                  unk_token="[UNK]", cls_token="[CLS]",
                                  sep_token="[SEP]", model_max_length=32)
    return tok


labels = [i % len(NAMES) for i in range(1600)]
rng.shuffle(labels)
tickets = [make_ticket(NAMES[k]) for k in labels]

plain = [t for t in tickets if "EUR" not in t and "2024" not in t]
tokenizer = build_tokenizer(plain)
added = tokenizer.add_tokens(["<money>", "<date>"])
print("tokenizer ready,", added, "placeholders")

data = Dataset.from_dict({"text": [scrub(t) for t in tickets], "label": labels})
data = data.map(lambda b: tokenizer(b["text"], truncation=True), batched=True,
                remove_columns=["text"])
parts = data.train_test_split(test_size=0.25, seed=13)

config = DistilBertConfig(
    vocab_size=len(tokenizer),
    max_position_embeddings=32,
    dim=64,
    hidden_dim=128,
    n_layers=2,
    n_heads=4,
    num_labels=len(NAMES),
    pad_token_id=tokenizer.pad_token_id,
)
model = DistilBertForSequenceClassification(config)


def compute_metrics(pred):
    return {"accuracy": float((np.argmax(pred.predictions, -1) == pred.label_ids).mean())}


args = TrainingArguments(
    output_dir="out",
    num_train_epochs=6,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=1e-3,
    warmup_ratio=0.1,
    logging_steps=30,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=parts["train"],
                  eval_dataset=parts["test"], compute_metrics=compute_metrics,
                  data_collator=DataCollatorWithPadding(tokenizer))
trainer.train()
result = trainer.evaluate()
print("eval loss %.4f accuracy %.4f" % (result["eval_loss"], result["eval_accuracy"]))
