# which of four authors wrote the paragraph?
import random
import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from datasets import Dataset, concatenate_datasets
from transformers import Trainer, TrainingArguments, set_seed

set_seed(4)
rnd = random.Random(4)
authors = {"doyle": "detective clue pipe london case", "verne": "submarine balloon island journey engine",
           "austen": "ball marriage sister estate letter", "melville": "whale harpoon sea captain storm"}
shared = "the a of and he she they was were had said then when came went house day night man".split()
vocab = {w: i + 1 for i, w in enumerate(shared + " ".join(authors.values()).split())}


def paragraphs(author, label, n):
    rows = []
    for _ in range(n):
        own = authors[author].split()
        other = authors[rnd.choice(list(authors))].split()
        text = [rnd.choice(own) for _ in range(3)] + [rnd.choice(other) for _ in range(2)]
        text += [rnd.choice(shared) for _ in range(rnd.randint(8, 20))]
        rnd.shuffle(text)
        rows.append({"ids": [vocab[w] for w in text], "labels": label})
    return Dataset.from_list(rows)


train = concatenate_datasets([paragraphs(a, i, 800) for i, a in enumerate(authors)])
test = concatenate_datasets([paragraphs(a, i, 150) for i, a in enumerate(authors)])


def collate(rows):
    ids = [torch.tensor(r["ids"]) for r in rows]
    return {"ids": pad_sequence(ids, batch_first=True), "lengths": torch.tensor([len(x) for x in ids]),
            "labels": torch.tensor([r["labels"] for r in rows])}


class BagOfWords(nn.Module):
    def __init__(self, n_words, n_classes, dim=32):
        super().__init__()
        self.emb = nn.Embedding(n_words, dim, padding_idx=0)
        self.mlp = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, n_classes))

    def forward(self, ids, lengths, labels=None):
        logits = self.mlp(self.emb(ids).sum(1) / lengths.unsqueeze(1))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


class AuthorTrainer(Trainer):
    def get_train_dataloader(self):
        return DataLoader(self.train_dataset, batch_size=self.args.per_device_train_batch_size,
                          collate_fn=collate, num_workers=0)

    def get_eval_dataloader(self, eval_dataset=None):
        return DataLoader(eval_dataset or self.eval_dataset, batch_size=64, collate_fn=collate)


def metrics(p):
    pred = p.predictions.argmax(-1)
    return {"accuracy": float((pred == p.label_ids).mean()), "predicted": np.bincount(pred, minlength=4).tolist()}


args = TrainingArguments("authors", num_train_epochs=3, per_device_train_batch_size=8, learning_rate=5e-3,
                         lr_scheduler_type="constant", eval_strategy="epoch", logging_steps=100,
                         save_strategy="no", report_to="none", use_cpu=True)
trainer = AuthorTrainer(BagOfWords(len(vocab) + 1, 4), args, train_dataset=train, eval_dataset=test,
                        compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
