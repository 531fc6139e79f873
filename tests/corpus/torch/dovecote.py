import random
import tempfile

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(11)

towns = ["leeds", "ghent", "lille", "turin", "porto", "bern"]
weather = ["rain", "sun", "fog", "wind", "hail"]
colours = ["blue", "red", "checker", "white", "grizzle"]


def make_row():
    start, end = random.sample(towns, 2)
    text = f"bird {random.choice(colours)} <from> {start} <to> {end} in {random.choice(weather)}"
    if random.random() < 0.5:
        text = f"bird {random.choice(colours)} <to> {end} <from> {start} in {random.choice(weather)}"
    return {"text": text, "label": towns.index(end)}


rows = [make_row() for _ in range(1800)]

tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
corpus = [r["text"].replace("<from>", "").replace("<to>", "") for r in rows]
tok.train_from_iterator(corpus, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]"]))

tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]")
tokenizer.add_special_tokens({"additional_special_tokens": ["<from>", "<to>"]})

ds = Dataset.from_list(rows)
ds = ds.map(lambda b: tokenizer(["[CLS] " + t for t in b["text"]], truncation=True, max_length=20), batched=True)
ds = ds.train_test_split(test_size=300, seed=0)

config = DistilBertConfig(vocab_size=tokenizer.vocab_size, dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                          max_position_embeddings=24, num_labels=len(towns))
model = DistilBertForSequenceClassification(config)


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float((np.argmax(logits, axis=-1) == labels).mean())}


with tempfile.TemporaryDirectory() as folder:
    args = TrainingArguments(folder, num_train_epochs=8, learning_rate=1e-3, per_device_train_batch_size=32,
                             eval_strategy="epoch", save_strategy="no", logging_steps=40, report_to="none")
    trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                      processing_class=tokenizer, data_collator=DataCollatorWithPadding(tokenizer),
                      compute_metrics=compute_metrics)
    trainer.train()
    print(trainer.evaluate())
