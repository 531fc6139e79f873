import random
import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from transformers import (BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed)

set_seed(17)
rng = random.Random(17)

TAGS = ["O", "NUM", "STREET", "CITY"]
TAG_ID = {t: i for i, t in enumerate(TAGS)}
STREETS = ["oak", "mill", "station", "church", "king", "river", "garden", "hill", "park", "green"]
CITIES = ["leeds", "york", "bath", "derby", "truro", "ely", "ripon", "wells", "green", "hill"]
CHAT = "send it to the flat at my place near please deliver in and we live now call before noon".split()
SUFFIX = ["street", "road", "lane", "avenue"]
VOCAB = ["[PAD]"] + sorted(set(STREETS + CITIES + CHAT + SUFFIX + [str(n) for n in range(1, 80)]))
W2I = {w: i for i, w in enumerate(VOCAB)}


def sentence():
    words, tags = [], []
    for _ in range(rng.randint(2, 5)):
        words.append(rng.choice(CHAT))
        tags.append("O")
    words += [str(rng.randint(1, 79)), rng.choice(STREETS), rng.choice(SUFFIX)]
    tags += ["NUM", "STREET", "STREET"]
    if rng.random() < 0.8:
        words += ["in", rng.choice(CITIES)]
        tags += ["O", "CITY"]
    for _ in range(rng.randint(0, 4)):
        words.append(rng.choice(CHAT + [str(rng.randint(1, 79))]) if rng.random() < 0.9 else "hill")
        tags.append("O")
    return {"input_ids": [W2I[w] for w in words], "labels": [TAG_ID[t] for t in tags]}


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    batch = {"input_ids": [], "attention_mask": [], "labels": []}
    for r in rows:
        gap = width - len(r["input_ids"])
        batch["input_ids"].append(r["input_ids"] + [0] * gap)
        batch["attention_mask"].append([1] * len(r["input_ids"]) + [0] * gap)
        batch["labels"].append(r["labels"] + [-100] * gap)
    return {k: torch.tensor(v) for k, v in batch.items()}


class RDropTrainer(Trainer):
    def __init__(self, *args, alpha=0.5, **kwargs):
        super().__init__(*args, **kwargs)
        self.alpha = alpha

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        first, second = model(**inputs), model(**inputs)
        keep = inputs["attention_mask"].bool()
        p = F.log_softmax(first.logits[keep], dim=-1)
        q = F.log_softmax(second.logits[keep], dim=-1)
        sym = F.kl_div(p, q, log_target=True, reduction="batchmean") + \
            F.kl_div(q, p, log_target=True, reduction="batchmean")
        loss = 0.5 * (first.loss + second.loss) + self.alpha * sym
        self.accelerator.backward(loss)
        return loss.detach()


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    guess = np.argmax(logits, -1)
    keep = labels != -100
    ent = keep & (labels != 0)
    hit = ent & (guess == labels)
    predicted = keep & (guess != 0)
    f1 = 2 * hit.sum() / max(1, ent.sum() + predicted.sum())
    return {"token_accuracy": float((guess == labels)[keep].mean()), "entity_f1": float(f1)}


train_ds = Dataset.from_list([sentence() for _ in range(900)])
test_ds = Dataset.from_list([sentence() for _ in range(250)])
config = BertConfig(vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=32, num_labels=len(TAGS))
args = TrainingArguments(output_dir="out/address", num_train_epochs=6, learning_rate=2e-3,
                         per_device_train_batch_size=30, per_device_eval_batch_size=50, weight_decay=0.01,
                         logging_strategy="epoch", eval_strategy="epoch", save_strategy="no",
                         report_to="none", use_cpu=True, disable_tqdm=True)
trainer = RDropTrainer(model=BertForTokenClassification(config), args=args, train_dataset=train_ds,
                       eval_dataset=test_ds, data_collator=collate, compute_metrics=compute_metrics)
trainer.train()
final = trainer.evaluate()
print("token accuracy %.3f  entity f1 %.3f  loss %.3f" % (final["eval_token_accuracy"], final["eval_entity_f1"], final["eval_loss"]))
