import random

import numpy as np
from datasets import Dataset, concatenate_datasets
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(13)
random.seed(13)

labels = ["queue", "view", "staff", "price"]
core = {
    "queue": ["waited", "line", "crowded", "hour", "slow", "turnstile"],
    "view": ["valley", "glacier", "panorama", "clouds", "window", "summit"],
    "staff": ["friendly", "attendant", "rude", "helped", "uniform", "explained"],
    "price": ["ticket", "expensive", "discount", "euros", "family", "refund"],
}
filler = "we the ride was and then up down cabin our day with really very again mountain station morning".split()


def comment(label):
    words = random.choices(filler, k=random.randint(6, 14)) + random.choices(core[label], k=2)
    words += random.choices(core[random.choice(labels)], k=1)
    random.shuffle(words)
    return " ".join(words)


parts = [Dataset.from_dict({"text": [comment(l) for _ in range(600)], "label": [i] * 600}) for i, l in enumerate(labels)]
full = concatenate_datasets(parts)
test_rows = [(comment(l), i) for i, l in enumerate(labels) for _ in range(60)]
test = Dataset.from_dict({"text": [t for t, _ in test_rows], "label": [i for _, i in test_rows]})

tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tok.normalizer = normalizers.Lowercase()
tok.pre_tokenizer = pre_tokenizers.Whitespace()
tok.train_from_iterator(full["text"], trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")


def encode(batch):
    return tokenizer(batch["text"], truncation=True, max_length=32, return_token_type_ids=False)


train = full.to_iterable_dataset(num_shards=4)
train = train.map(encode, batched=True, remove_columns=["text"])
test = test.map(encode, batched=True, remove_columns=["text"])

model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(tokenizer), dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=32, num_labels=4))
args = TrainingArguments(output_dir="out", max_steps=300, per_device_train_batch_size=16,
                         learning_rate=1e-3, logging_steps=30, save_strategy="no", report_to="none", disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                  data_collator=DataCollatorWithPadding(tokenizer),
                  compute_metrics=lambda p: {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())})
trainer.train()
print(trainer.evaluate())
