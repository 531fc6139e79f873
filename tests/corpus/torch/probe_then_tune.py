"""Movie-plot genres: pretrain a BERT encoder on masked words, probe it with the body frozen, then tune everything."""
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

GENRES, WORDS, LENGTH, MASK, OFFSET = 5, 80, 16, 1, 2
set_seed(52)
gen = np.random.default_rng(52)
PROFILE = 0.8 * gen.dirichlet(np.full(WORDS, 0.1), size=GENRES) + 0.2 / WORDS


class Plots(Dataset):
    def __init__(self, n):
        self.y = gen.integers(0, GENRES, n)
        self.x = np.stack([gen.choice(WORDS, LENGTH, p=PROFILE[k]) for k in self.y]) + OFFSET

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": torch.tensor(self.x[i]), "labels": torch.tensor(self.y[i])}


def mask_words(rows):
    ids = torch.stack([r["input_ids"] for r in rows])
    hide = torch.rand(ids.shape) < 0.2
    return {"input_ids": ids.masked_fill(hide, MASK), "labels": ids.masked_fill(~hide, -100)}


def arguments(stage, epochs, lr, **extra):
    return TrainingArguments(output_dir="out" + stage, num_train_epochs=epochs, learning_rate=lr,
                             per_device_train_batch_size=64, per_device_eval_batch_size=256,
                             logging_steps=50, save_strategy="no", report_to="none",
                             disable_tqdm=True, **extra)


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


config = BertConfig(vocab_size=WORDS + OFFSET, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=LENGTH, num_labels=GENRES)
unlabeled, labeled, test = Plots(3000), Plots(600), Plots(500)

lm = BertForMaskedLM(config)
Trainer(model=lm, args=arguments("mlm", 4, 2e-3, warmup_ratio=0.1),
        train_dataset=unlabeled, data_collator=mask_words).train()

clf = BertForSequenceClassification(config)
clf.bert.load_state_dict(lm.bert.state_dict(), strict=False)

for p in clf.bert.parameters():
    p.requires_grad = False
for p in clf.bert.pooler.parameters():
    p.requires_grad = True
probe = Trainer(model=clf, args=arguments("probe", 5, 1e-2), train_dataset=labeled,
                eval_dataset=test, compute_metrics=accuracy)
probe.train()
first = probe.evaluate()

for p in clf.parameters():
    p.requires_grad = True
tune = Trainer(model=clf, args=arguments("tune", 3, 5e-5), train_dataset=labeled,
               eval_dataset=test, compute_metrics=accuracy)
tune.train()
second = tune.evaluate()

share = np.bincount(test.y).max() / len(test)
print("probe accuracy %.4f loss %.4f" % (first["eval_accuracy"], first["eval_loss"]))
print("tuned accuracy %.4f loss %.4f (largest genre %.3f)" % (
    second["eval_accuracy"], second["eval_loss"], share))
