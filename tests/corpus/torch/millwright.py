"""Route millwrights' work orders to a crew with a small DistilBERT."""
import os
import random

os.environ["USE_TF"] = "0"
os.environ["WANDB_DISABLED"] = "true"

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(13)
CREWS = {
    "electrical": "breaker fuse cable relay panel sparks tripped voltage contactor".split(),
    "hydraulic": "hose seal cylinder leak ram oil pressure fitting valve".split(),
    "belts": "belt pulley slipping frayed idler tension roller tracking splice".split(),
    "bearings": "bearing grease squeal hot race shaft wobble housing collar".split(),
}
FILLER = "the on in line unit near station please check again since morning shift was after report from two three".split()


def order(crew):
    words = random.choices(CREWS[crew], k=2) + random.choices(FILLER, k=random.randint(5, 12))
    words += random.choices(CREWS[random.choice(list(CREWS))], k=random.randint(0, 1))
    random.shuffle(words)
    return " ".join(words)


names = list(CREWS)
rows = []
for _ in range(2000):
    label = random.randrange(len(names))
    rows.append({"text": order(names[label]), "label": label})
ds = Dataset.from_list(rows).train_test_split(test_size=0.2, seed=13)

raw = Tokenizer(models.WordLevel(unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator(ds["train"]["text"], trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
raw.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")
ds = ds.map(lambda b: tokenizer(b["text"], truncation=True, max_length=32), batched=True, remove_columns=["text"])

model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(tokenizer), dim=64, hidden_dim=128, n_layers=2, n_heads=4, max_position_embeddings=40, num_labels=len(names)))

training_args = TrainingArguments(
    output_dir="millwright-out",
    num_train_epochs=4,
    per_device_train_batch_size=64,
    per_device_eval_batch_size=64,
    learning_rate=1e-3,
    warmup_steps=500,
    weight_decay=0.01,
    logging_steps=20,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)


def compute_metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=1) == p.label_ids).mean())}


trainer = Trainer(
    model=model,
    args=training_args,
    train_dataset=ds["train"],
    eval_dataset=ds["test"],
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=compute_metrics,
)
trainer.train()
print("final:", trainer.evaluate())
