import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

set_seed(42)
topics = {
    0: "invoice payment account refund charge receipt bank".split(),
    1: "password login browser error crash update screen".split(),
    2: "parcel courier delivery address delayed tracking box".split(),
}
filler = "hello please i we the my your today again about with thanks".split()
texts, labels = [], []
for _ in range(700):
    k = random.randrange(3)
    words = random.choices(filler, k=random.randint(3, 10)) + random.choices(topics[k], k=3)
    random.shuffle(words)
    texts.append(" ".join(words))
    labels.append(k)

vocab = {"[PAD]": 0, "[UNK]": 1}
for w in sorted(set(" ".join(texts).split())):
    vocab[w] = len(vocab)
backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]")

dataset = Dataset.from_dict({"text": texts, "label": labels})
dataset = dataset.map(lambda b: tokenizer(b["text"], truncation=True), batched=True)
splits = dataset.train_test_split(test_size=0.2, seed=42)

model = BertForSequenceClassification(BertConfig(vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2,
                                                 num_attention_heads=2, intermediate_size=64,
                                                 max_position_embeddings=32, num_labels=3))


def compute_metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=-1) == p.label_ids).mean())}


args = TrainingArguments(output_dir="results", num_train_epochs=7, per_device_train_batch_size=16, learning_rate=2e-3,
                         eval_strategy="epoch", save_strategy="no", logging_steps=20, report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=splits["train"], eval_dataset=splits["test"],
                  compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
