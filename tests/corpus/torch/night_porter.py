import random

import torch
import torch.nn.functional as F
from transformers import (AlbertConfig, AlbertForSequenceClassification, BertConfig, BertForSequenceClassification,
                          Trainer, TrainingArguments, set_seed)

set_seed(15)
WISHES = {0: "towel pillow blanket iron".split(), 1: "noisy loud party banging".split(),
          2: "taxi airport bus wakeup".split(), 3: "hungry pizza sandwich tea".split(),
          4: "key locked card door".split()}
OTHER = "room please can i have someone is the in my need now thank you hello 12 34 56".split()
VOCAB = {w: i for i, w in enumerate(["<pad>", "<cls>"] + OTHER + sum(WISHES.values(), []))}
LENGTH = 14


def calls(n, labelled=True):
    rows = []
    for _ in range(n):
        y = random.randrange(5)
        words = [random.choice(WISHES[y])] + random.choices(OTHER, k=random.randint(5, LENGTH - 2))
        random.shuffle(words)
        ids = [1] + [VOCAB[w] for w in words]
        mask = [1] * len(ids) + [0] * (LENGTH - len(ids))
        row = {"input_ids": torch.tensor(ids + [0] * (LENGTH - len(ids))), "attention_mask": torch.tensor(mask)}
        rows.append({**row, "labels": y} if labelled else row)
    return rows


class Distiller(Trainer):
    def __init__(self, *a, teacher, temperature=3.0, **kw):
        super().__init__(*a, **kw)
        self.teacher, self.temperature = teacher.eval().requires_grad_(False), temperature

    def compute_loss(self, model, inputs, return_outputs=False, **kw):
        inputs = {k: v for k, v in inputs.items() if k != "labels"}
        outputs, t = model(**inputs), self.temperature
        with torch.no_grad():
            target = F.softmax(self.teacher(**inputs).logits / t, dim=-1)
        loss = F.kl_div(F.log_softmax(outputs.logits / t, dim=-1), target, reduction="batchmean") * t * t
        return (loss, outputs) if return_outputs else loss


def settings(name, **kw):
    return TrainingArguments(f"out/porter_{name}", save_strategy="no", report_to="none", use_cpu=True,
                             per_device_train_batch_size=32, logging_steps=40, **kw)


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


test = calls(300)
big = BertForSequenceClassification(BertConfig(vocab_size=len(VOCAB), hidden_size=96, num_hidden_layers=2, num_labels=5,
                                               num_attention_heads=4, intermediate_size=192, max_position_embeddings=16))
first = Trainer(big, settings("big", num_train_epochs=5, learning_rate=1e-3), train_dataset=calls(1200),
                eval_dataset=test, compute_metrics=accuracy)
first.train()
print("teacher", first.evaluate())

small = AlbertForSequenceClassification(AlbertConfig(
    vocab_size=len(VOCAB), embedding_size=32, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, num_labels=5,
    intermediate_size=96, max_position_embeddings=16, classifier_dropout_prob=0.0))
second = Distiller(small, settings("small", num_train_epochs=6, learning_rate=2e-3), teacher=big,
                   train_dataset=calls(1500, labelled=False), eval_dataset=test, compute_metrics=accuracy)
second.train()
print("student", second.evaluate())
