# predict the (log) asking price of a used car from its ad text
import random
import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(7)
rng = random.Random(7)
makes = {"fiat": -0.6, "skoda": -0.2, "toyota": 0.1, "volvo": 0.4, "audi": 0.7, "porsche": 1.5}
states = {"rusty": -0.7, "used": -0.2, "clean": 0.1, "mint": 0.5}
fuels = ["petrol", "diesel", "hybrid"]


def ad():
    make, state, fuel = rng.choice(list(makes)), rng.choice(list(states)), rng.choice(fuels)
    age = rng.randint(1, 15)
    text = f"{state} {make} , {fuel} , {age} years old"
    if rng.random() < 0.4:
        text += " , " + rng.choice(["one owner", "new tyres fitted", "must go this week"])
    price = makes[make] + states[state] - 0.09 * (age - 8) + rng.gauss(0, 0.1)
    return {"text": text, "label": float(price)}


ds = Dataset.from_list([ad() for _ in range(2000)]).train_test_split(test_size=0.2, seed=7)

raw = Tokenizer(models.WordLevel(unk_token="[UNK]"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator(ds["train"]["text"],
                        trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]")
ds = ds.map(lambda b: tokenizer(b["text"], truncation=True, max_length=32), batched=True)

config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=32, num_labels=1)
model = BertForSequenceClassification(config)


def compute_metrics(eval_pred):
    predictions, labels = eval_pred
    rmse = np.sqrt(np.mean((predictions - labels) ** 2))
    mae = np.mean(np.abs(predictions - labels))
    return {"rmse": float(rmse), "mae": float(mae)}


args = TrainingArguments("out_cars", learning_rate=1e-3, num_train_epochs=6, per_device_train_batch_size=32,
                         per_device_eval_batch_size=64, eval_strategy="epoch", save_strategy="no",
                         logging_steps=50, report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  processing_class=tokenizer, data_collator=DataCollatorWithPadding(tokenizer),
                  compute_metrics=compute_metrics)
trainer.train()
print("std of the test prices:", np.std(ds["test"]["label"]))
print(trainer.evaluate())
