import os
os.environ["USE_TF"] = "0"
import random
import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(0)
POS = "great lovely tasty friendly quick clean warm perfect".split()
NEG = "awful rude cold slow dirty bland noisy terrible".split()
FILL = "the food was and staff place we had table with a very it menu but".split()


def make_reviews(n, rng):
    rows = []
    for _ in range(n):
        label = rng.randint(0, 1)
        major, minor = (POS, NEG) if label else (NEG, POS)
        words = rng.choices(major, k=3) + rng.choices(minor, k=rng.randint(0, 1)) + rng.choices(FILL, k=rng.randint(4, 9))
        rng.shuffle(words)
        rows.append((" ".join(words), label))
    return rows


rng = random.Random(1)
train_rows, eval_rows = make_reviews(1000, rng), make_reviews(300, rng)

vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + POS + NEG + FILL)}
backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]")


class Reviews(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.items = []
        for text, label in rows:
            enc = tokenizer("[CLS] " + text + " [SEP]")
            self.items.append({"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"],
                               "label": label})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    preds = np.argmax(logits, axis=-1)
    return {"accuracy": float((preds == labels).mean()),
            "recall": float(preds[labels == 1].mean())}


config = BertConfig(vocab_size=len(vocab), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=64, max_position_embeddings=32, num_labels=2)
model = BertForSequenceClassification(config)
args = TrainingArguments("review_out", num_train_epochs=3, learning_rate=3e-3, per_device_train_batch_size=32,
                         per_device_eval_batch_size=100, eval_strategy="epoch", save_strategy="no",
                         logging_steps=32, report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=Reviews(train_rows), eval_dataset=Reviews(eval_rows),
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
