import random
import numpy as np
import torch
from torch import nn
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(7)
random.seed(7)
good = ["relaxing", "clean", "friendly", "wonderful", "warm"]
bad = ["dirty", "cold", "crowded", "rude", "overpriced"]
filler = ["the", "pool", "was", "and", "our", "visit", "staff", "sauna", "we", "found", "water", "very"]


def review():
    label = int(random.random() < 0.75)
    words = random.choices(filler, k=random.randint(5, 12)) + random.choices(good if label else bad, k=2)
    random.shuffle(words)
    return " ".join(words), label


rows = [review() for _ in range(900)]
texts, labels = zip(*rows)
tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tok.pre_tokenizer = pre_tokenizers.Whitespace()
tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")

ds = Dataset.from_dict({"text": list(texts), "label": list(labels)})
ds = ds.map(lambda b: tokenizer(b["text"], truncation=True, max_length=32), batched=True, remove_columns=["text"])
ds = ds.train_test_split(0.2, seed=7)

config = BertConfig(vocab_size=len(tokenizer), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=40, num_labels=2)
model = BertForSequenceClassification(config)
weights = torch.tensor([2.0, 0.67])


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs.logits, labels, weight=weights.to(outputs.logits.device))
        return (loss, outputs) if return_outputs else loss


def compute_metrics(p):
    pred = p.predictions.argmax(-1)
    recalls = [float((pred[p.label_ids == c] == c).mean()) for c in (0, 1)]
    return {"balanced_accuracy": float(np.mean(recalls))}


args = TrainingArguments("baths_out", num_train_epochs=5, per_device_train_batch_size=32, learning_rate=1e-3,
                         logging_steps=20, eval_strategy="epoch", save_strategy="no", report_to="none", seed=7)
trainer = WeightedTrainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                          data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
