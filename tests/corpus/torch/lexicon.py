"""Which of 24 word families does an invented word belong to?  Small BERT over characters."""
import argparse
import random
import string

import numpy as np
from datasets import Dataset
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

parser = argparse.ArgumentParser()
parser.add_argument("--smoothing", type=float, default=0.3)
parser.add_argument("--families", type=int, default=24)
parser.add_argument("--epochs", type=int, default=12)
parser.add_argument("--seed", type=int, default=6)
opt = parser.parse_args()

set_seed(opt.seed)
rng = random.Random(opt.seed)
endings = ["".join(rng.choice("aeiou") if i % 2 else rng.choice("bdfgklmnprst") for i in range(3)) for _ in range(200)]
endings = list(dict.fromkeys(endings))[:opt.families]


def word(family):
    stem = "".join(rng.choice(string.ascii_lowercase) for _ in range(rng.randint(2, 6)))
    return stem + endings[family]


vocab = {c: i for i, c in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + list(string.ascii_lowercase))}
chars = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
chars.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
chars.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=chars, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                    sep_token="[SEP]")

rows = []
for i in range(3000):
    family = i % opt.families
    rows.append({"word": word(family), "label": family})
ds = Dataset.from_list(rows).map(lambda b: tokenizer(b["word"]), batched=True, remove_columns=["word"])
ds = ds.train_test_split(test_size=400, seed=opt.seed)

model = BertForSequenceClassification(BertConfig(
    vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=16, num_labels=opt.families, hidden_dropout_prob=0.05))

args = TrainingArguments(
    output_dir="lexicon_out", num_train_epochs=opt.epochs, per_device_train_batch_size=64, learning_rate=3e-3,
    label_smoothing_factor=opt.smoothing, lr_scheduler_type="cosine", warmup_ratio=0.1, logging_steps=40,
    eval_strategy="epoch", save_strategy="no", report_to="none", seed=opt.seed)


def top(p):
    order = np.argsort(-p.predictions, axis=-1)
    return {"top1": float((order[:, 0] == p.label_ids).mean()),
            "top3": float((order[:, :3] == p.label_ids[:, None]).any(1).mean())}


trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=top)
trainer.train()
print(trainer.evaluate())
