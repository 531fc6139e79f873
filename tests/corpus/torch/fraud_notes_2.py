"""Rare-event text classification (about 4 % positives): focal loss with class weights, accumulated gradients,
and a decision threshold picked on a validation part. Accuracy says nothing here, so average precision and F1 are reported."""
import random

import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, EarlyStoppingCallback,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

RNG = random.Random(31)
set_seed(31)
MERCHANTS = ["grocer", "florist", "petrol station", "book shop", "cinema", "pharmacy", "jeweller", "web shop", "hotel", "kiosk"]
PLACES = ["at home", "abroad", "in the next town", "online", "by phone"]
HABITS = ["as every week", "for the first time", "as last month", "again"]
EXTRA = ["the receipt is attached", "customer confirmed the amount", "paid by card", "amount was rounded", "no comment", "branch 12"]
SUSPECT = ["card was reported stolen", "pin was changed an hour before", "delivery address differs", "three attempts were declined"]


def note():
    fraud = RNG.random() < 0.04
    bits = [f"{RNG.choice(MERCHANTS)} payment {RNG.choice(PLACES)}", RNG.choice(HABITS), RNG.choice(EXTRA)]
    # single warning signs also occur in honest payments, two at once hardly ever do
    signs = 2 if RNG.random() < 0.9 else 1
    if not fraud:
        signs = RNG.choices([0, 1, 2], weights=[70, 29.7, 0.3])[0]
    bits += RNG.sample(SUSPECT, signs)
    RNG.shuffle(bits)
    return {"text": " ; ".join(bits), "labels": int(fraud)}


parts = {"train": 6000, "valid": 1500, "test": 2500}
data = {k: Dataset.from_list([note() for _ in range(n)]) for k, n in parts.items()}

core = Tokenizer(models.WordLevel(unk_token="[UNK]"))
core.normalizer, core.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
core.train_from_iterator(list(data["train"]["text"]), trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]"]))
core.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 2)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                    model_input_names=["input_ids", "attention_mask"])
data = {k: d.map(lambda b: tokenizer(b["text"]), batched=True, remove_columns=["text"]) for k, d in data.items()}

WEIGHTS = torch.tensor([1.0, 8.0])


def focal(outputs, labels, num_items_in_batch=None, gamma=1.5):
    logp = F.log_softmax(outputs.logits.float(), dim=-1).gather(1, labels[:, None]).squeeze(1)
    each = -WEIGHTS[labels] * (1 - logp.exp()) ** gamma * logp
    # with accumulation the Trainer hands over the number of labels in the whole step
    return each.sum() / (num_items_in_batch if num_items_in_batch is not None else len(labels))


def fraud_probability(logits):
    return 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))


def compute_metrics(p):
    prob = fraud_probability(p.predictions)
    return {"ap": average_precision_score(p.label_ids, prob), "f1_at_half": f1_score(p.label_ids, prob > 0.5, zero_division=0)}


model = BertForSequenceClassification(BertConfig(
    vocab_size=len(tokenizer), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=48, num_labels=2, pad_token_id=0, hidden_dropout_prob=0.05, initializer_range=0.06))

trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="out/fraud_notes", num_train_epochs=6, per_device_train_batch_size=16, gradient_accumulation_steps=4,
        per_device_eval_batch_size=500, learning_rate=2e-3, lr_scheduler_type="constant_with_warmup", warmup_steps=30,
        max_grad_norm=0.5, eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
        metric_for_best_model="ap", logging_strategy="epoch", report_to="none", disable_tqdm=True, seed=31),
    train_dataset=data["train"],
    eval_dataset=data["valid"],
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_loss_func=focal,
    compute_metrics=compute_metrics,
    callbacks=[EarlyStoppingCallback(early_stopping_patience=2)],
)
trainer.train()

valid = trainer.predict(data["valid"])
precision, recall, cuts = precision_recall_curve(valid.label_ids, fraud_probability(valid.predictions))
f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
threshold = float(cuts[np.argmax(f1[:-1])])

test = trainer.predict(data["test"])
prob = fraud_probability(test.predictions)
print(f"fraud rate {test.label_ids.mean():.3f} (average precision of guessing), threshold {threshold:.2f}")
print(f"test average precision {average_precision_score(test.label_ids, prob):.3f}, F1 {f1_score(test.label_ids, prob >= threshold):.3f}")
