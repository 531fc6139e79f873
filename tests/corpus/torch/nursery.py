# masked language modelling on nursery rhymes, with gradient checkpointing and accumulation
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForMaskedLM, DataCollatorForLanguageModeling, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

set_seed(19)
rng = random.Random(19)

LEFT = {"cow": ("moon", "jumped", "over"), "mouse": ("clock", "ran", "up"), "spider": ("spout", "climbed", "up"),
        "lamb": ("school", "walked", "to"), "egg": ("wall", "fell", "from"), "king": ("hill", "marched", "down"),
        "dish": ("spoon", "danced", "with"), "piper": ("fair", "strolled", "to")}
ADJ = "little old merry silly".split()


def rhyme():
    parts = []
    for _ in range(rng.randint(1, 4)):
        who = rng.choice(list(LEFT))
        place, verb, prep = LEFT[who]
        adj = rng.choice(ADJ)
        parts.append(f"the {adj} {who} {verb} {prep} the {place} , the {adj} {who}")
    return " and ".join(parts)


lines = [rhyme() for _ in range(1300)]
special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
words = special + sorted({w for l in lines for w in l.split()})
backend = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                    sep_token="[SEP]", mask_token="[MASK]")

ds = Dataset.from_dict({"text": lines}).map(lambda b: tokenizer(b["text"]), batched=True, remove_columns="text")
ds = ds.train_test_split(test_size=200, seed=1)

model = BertForMaskedLM(BertConfig(vocab_size=len(words), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                   intermediate_size=128, max_position_embeddings=64,
                                   hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))


def keep_ids(logits, labels):
    return logits.argmax(-1)


def masked_accuracy(p):
    seen = p.label_ids != -100
    return {"masked_accuracy": float((p.predictions[seen] == p.label_ids[seen]).mean()), "share": float(seen.mean())}


args = TrainingArguments(
    output_dir="nursery_out",
    num_train_epochs=12,
    per_device_train_batch_size=10,
    gradient_accumulation_steps=3,
    gradient_checkpointing=True,
    gradient_checkpointing_kwargs={"use_reentrant": False},
    learning_rate=3e-3,
    warmup_ratio=0.15,
    lr_scheduler_type="cosine",
    group_by_length=True,
    adam_beta2=0.98,
    eval_strategy="epoch",
    logging_steps=40,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  data_collator=DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15),
                  compute_metrics=masked_accuracy, preprocess_logits_for_metrics=keep_ids)
trainer.train()
print(trainer.evaluate())
