import random

import numpy as np
from datasets import Dataset, DatasetDict
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

set_seed(13)
rng = random.Random(13)

NOUNS = "bridge school market harbour library theatre station park museum factory".split()
UP = "opens grows wins rises improves expands".split()
DOWN = "closes shrinks loses falls worsens fails".split()
NEG = ["not", "never"]
FILL = "the local city today says council again report new this week".split()


def bulletin():
    up = rng.random() < 0.5
    negated = rng.random() < 0.5
    words = [rng.choice(FILL) for _ in range(rng.randint(1, 8))]
    core = [rng.choice(NOUNS)] + ([rng.choice(NEG)] if negated else []) + [rng.choice(UP if up else DOWN)]
    at = rng.randint(0, len(words))
    words[at:at] = core
    return " ".join(words), int(up != negated)


def split(n):
    rows = [bulletin() for _ in range(n)]
    return Dataset.from_dict({"text": [r[0] for r in rows], "labels": [r[1] for r in rows]})


raw = DatasetDict(train=split(1200), validation=split(300))

vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + NOUNS + UP + DOWN + NEG + FILL
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
backend.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]")


def tokenize(batch):
    return tokenizer(batch["text"], padding="max_length", truncation=True, max_length=96)


encoded = raw.map(tokenize, batched=True)
encoded.set_format("torch", columns=["input_ids", "labels"])

model = BertForSequenceClassification(BertConfig(
    vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
    max_position_embeddings=96, num_labels=2))

args = TrainingArguments(
    output_dir="bulletins_out",
    num_train_epochs=10,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=1e-3,
    warmup_ratio=0.1,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=38,
    report_to="none",
)


def metrics(p):
    pred = p.predictions.argmax(-1)
    return {"accuracy": float((pred == p.label_ids).mean())}


trainer = Trainer(model=model, args=args, train_dataset=encoded["train"], eval_dataset=encoded["validation"],
                  compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
