# Trainer, token tagging: quantity / unit / ingredient in a recipe line
import random
import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (BertConfig, BertForTokenClassification, DataCollatorForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(5)
rng = random.Random(5)
TAGS = ["O", "QTY", "UNIT", "FOOD"]
qty = [str(i) for i in range(1, 20)] + ["half", "two", "three"]
unit = "cup cups gram grams spoon spoons pinch litre".split()
food = "flour sugar salt butter milk rice onion garlic pepper honey".split()
other = "of fresh the finely chopped add then some warm and sifted".split()

words = ["[PAD]", "[UNK]", "[CLS]"] + qty + unit + food + other
base = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
base.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok = PreTrainedTokenizerFast(tokenizer_object=base, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]")


def line():
    out = [(rng.choice(other), 0) for _ in range(rng.randint(0, 4))]
    out += [(rng.choice(qty), 1), (rng.choice(unit), 2)] + [(rng.choice(other), 0) for _ in range(rng.randint(0, 2))]
    out += [(rng.choice(food), 3)] + [(rng.choice(other), 0) for _ in range(rng.randint(0, 3))]
    return {"tokens": [w for w, _ in out], "ner_tags": [t for _, t in out]}


def align(batch):
    enc = tok([["[CLS]"] + t for t in batch["tokens"]], is_split_into_words=True)
    enc["labels"] = [[-100 if w is None or w == 0 else tags[w - 1] for w in enc.word_ids(i)]
                     for i, tags in enumerate(batch["ner_tags"])]
    return enc


train = Dataset.from_list([line() for _ in range(800)]).map(align, batched=True)
test = Dataset.from_list([line() for _ in range(200)]).map(align, batched=True)

model = BertForTokenClassification(BertConfig(
    vocab_size=len(words), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=32, num_labels=len(TAGS), id2label=dict(enumerate(TAGS))))


def compute_metrics(p):
    pred, keep = p.predictions.argmax(-1), p.label_ids != -100
    named = keep & (p.label_ids > 0)
    return {"accuracy": float((pred == p.label_ids)[keep].mean()), "entity_recall": float((pred == p.label_ids)[named].mean())}


args = TrainingArguments("out_recipes", num_train_epochs=4, per_device_train_batch_size=16, learning_rate=1e-3,
                         eval_strategy="epoch", logging_steps=50, save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                  data_collator=DataCollatorForTokenClassification(tok), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
