# Turn simple active sentences into the passive with a small T5 trained from scratch.
import itertools
import random

import numpy as np
import torch
from datasets import Dataset
from transformers import (AutoTokenizer, DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments, T5Config,
                          T5ForConditionalGeneration)

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)

people = ["nurse", "tailor", "baker", "waiter", "uncle", "butcher", "dentist", "postman"]
objects = ["drum", "lamp", "pear", "knife", "blanket", "guitar", "hat", "table"]
verbs = {"carries": "carried", "paints": "painted", "cleans": "cleaned", "sells": "sold", "finds": "found", "likes": "liked"}
adjectives = ["red", "blue", "old", "soft", ""]

pairs = []
for who, verb, what, adj in itertools.product(people, verbs, objects, adjectives):
    noun = f"{adj} {what}".strip()
    pairs.append({"active": f"the {who} {verb} the {noun}", "passive": f"the {noun} is {verbs[verb]} by the {who}"})
random.shuffle(pairs)
data = Dataset.from_list(pairs).train_test_split(test_size=120, seed=0)

tokenizer = AutoTokenizer.from_pretrained("assets/distilbert-mini")


def preprocess(batch):
    enc = tokenizer(batch["active"], truncation=True, max_length=32)
    enc["labels"] = tokenizer(text_target=batch["passive"], truncation=True, max_length=32)["input_ids"]
    return enc


data = data.map(preprocess, batched=True, remove_columns=["active", "passive"])

config = T5Config(
    vocab_size=len(tokenizer),
    d_model=64,
    d_kv=16,
    d_ff=128,
    num_layers=2,
    num_heads=4,
    dropout_rate=0.0,
    pad_token_id=tokenizer.pad_token_id,
    eos_token_id=tokenizer.sep_token_id,
    decoder_start_token_id=tokenizer.pad_token_id,
)
model = T5ForConditionalGeneration(config)
print(f"{model.num_parameters():,} parameters")


def compute_metrics(eval_preds):
    preds, labels = eval_preds
    if isinstance(preds, tuple):
        preds = preds[0]
    # generated ids are filled up by the trainer
    preds = np.where(preds != -100, preds, tokenizer.pad_token_id)
    texts = tokenizer.batch_decode(preds, skip_special_tokens=True)
    wanted = tokenizer.batch_decode(labels, skip_special_tokens=True)
    exact = np.mean([a.strip() == b.strip() for a, b in zip(texts, wanted)])
    print("   ", texts[0], "|", wanted[0])
    return {"exact_match": float(exact)}


args = Seq2SeqTrainingArguments(
    output_dir="t5_passive",
    per_device_train_batch_size=32,
    per_device_eval_batch_size=60,
    learning_rate=3e-3,
    num_train_epochs=8,
    lr_scheduler_type="cosine",
    warmup_steps=20,
    weight_decay=0.01,
    eval_strategy="epoch",
    save_strategy="no",
    predict_with_generate=True,
    generation_max_length=24,
    logging_steps=20,
    report_to=[],
    disable_tqdm=True,
)
trainer = Seq2SeqTrainer(
    model=model,
    args=args,
    train_dataset=data["train"],
    eval_dataset=data["test"],
    processing_class=tokenizer,
    data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
    compute_metrics=compute_metrics,
)
trainer.train()
print(trainer.evaluate()["eval_exact_match"])
