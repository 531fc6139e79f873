import os
os.environ["TOKENIZERS_PARALLELISM"] = "false"
import random
import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(3)
rng = random.Random(3)

WORDS = {
    "billing": "invoice charge refund card payment twice fee price month subscription".split(),
    "delivery": "parcel courier late tracking address driver shipped door depot week".split(),
    "account": "password login email reset locked profile name username delete verify".split(),
    "technical": "crash error screen update install freeze button version phone bug".split(),
    "other": "thanks hello feedback idea nice wish team people great suggestion".split(),
}
FILLER = "i my the a is was and it on to please can you not with since have again now".split()
TOPICS = ["account", "billing", "delivery", "other", "technical"]


def make_ticket(topic):
    n = rng.randint(6, 22)
    own = WORDS[topic]
    noise = WORDS[rng.choice(list(WORDS))]
    words = []
    for _ in range(n):
        r = rng.random()
        words.append(rng.choice(own if r < 0.3 else noise if r < 0.4 else FILLER))
    return " ".join(words)


def load_frame(n=1500):
    rows = []
    for _ in range(n):
        topic = rng.choices(list(WORDS), weights=[4, 4, 3, 2, 2])[0]
        rows.append({"body": make_ticket(topic), "topic": topic, "channel": rng.choice(["web", "mail"])})
    return pd.DataFrame(rows)


def build_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")


df = load_frame()
df["topic"] = pd.Categorical(df["topic"], categories=TOPICS)
df["labels"] = df["topic"].cat.codes.astype("int64")
train_df, test_df = df.iloc[:1200], df.iloc[1200:]
tokenizer = build_tokenizer(train_df["body"].tolist())


def encode(frame):
    ds = Dataset.from_pandas(frame[["body", "labels"]].reset_index(drop=True))
    return ds.map(lambda b: tokenizer(b["body"], truncation=True, max_length=32,
                                      return_token_type_ids=False),
                  batched=True, remove_columns=["body"])


def metrics(p):
    pred = p.predictions.argmax(-1)
    return {"accuracy": accuracy_score(p.label_ids, pred),
            "macro_f1": f1_score(p.label_ids, pred, average="macro")}


config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2,
                    num_attention_heads=4, intermediate_size=128, max_position_embeddings=40,
                    num_labels=len(TOPICS), pad_token_id=tokenizer.pad_token_id)
model = BertForSequenceClassification(config)

args = TrainingArguments(output_dir="out/tickets", num_train_epochs=6, learning_rate=1e-3,
                         per_device_train_batch_size=32, per_device_eval_batch_size=64,
                         warmup_ratio=0.1, logging_steps=20, save_strategy="no",
                         report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=encode(train_df), eval_dataset=encode(test_df),
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=metrics)
trainer.train()
res = trainer.evaluate()
print("majority share", float(test_df["topic"].value_counts(normalize=True).iloc[0]))
print("test accuracy %.3f  macro f1 %.3f  loss %.3f" % (res["eval_accuracy"], res["eval_macro_f1"], res["eval_loss"]))
