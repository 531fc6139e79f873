"""Find rare failing jobs (3 %) from their event sequence with a small DistilBERT.

* event embeddings are random and stay fixed (event ids come from a hash, new ones appear daily)
* training batches are drawn 50/50, evaluation keeps the natural rate
* the scores are shifted back to the natural rate before probabilities are reported
"""
import math

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(40)
N_EVENTS, LENGTH, RATE = 80, 16, 0.03
OPEN, CLOSE, RETRY = 5, 6, 7


class Jobs(Dataset):
    """A job fails when it was opened and retried but never closed."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.y = (rng.random(n) < RATE).astype(np.int64)
        self.x = rng.integers(8, N_EVENTS, (n, LENGTH))
        for i in range(n):
            where = rng.permutation(LENGTH)
            if self.y[i]:
                self.x[i, where[0]] = OPEN
                self.x[i, where[1]] = RETRY
            else:
                some = [e for e in (OPEN, CLOSE, RETRY) if rng.random() < 0.6]
                if OPEN in some and RETRY in some and CLOSE not in some:
                    some.append(CLOSE)
                for e, w in zip(some, where):
                    self.x[i, w] = e
        lost = rng.random(self.x.shape) < 0.008            # events get lost on the way
        self.x[lost] = rng.integers(8, N_EVENTS, lost.sum())

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": torch.from_numpy(self.x[i]), "labels": int(self.y[i])}


class BalancedTrainer(Trainer):
    def get_train_dataloader(self):
        y = self.train_dataset.y
        freq = np.bincount(y)
        sampler = WeightedRandomSampler(torch.from_numpy(1.0 / freq[y]), num_samples=4000, replacement=True)
        return DataLoader(self.train_dataset, batch_size=self.args.per_device_train_batch_size, sampler=sampler,
                          collate_fn=self.data_collator, drop_last=True)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        logp = F.log_softmax(outputs.logits, -1).gather(1, labels[:, None]).squeeze(1)
        loss = -((1 - logp.exp()) * logp).mean() if model.training else -logp.mean()     # focal, gamma = 1
        return (loss, outputs) if return_outputs else loss


def metrics(p):
    margin = p.predictions[:, 1] - p.predictions[:, 0]
    shifted = margin + math.log(RATE / (1 - RATE))
    prob = 1 / (1 + np.exp(-shifted))
    return {"average_precision": float(average_precision_score(p.label_ids, margin)),
            "auc": float(roc_auc_score(p.label_ids, margin)),
            "log_loss": float(log_loss(p.label_ids, prob))}


train, test = Jobs(6000, 1), Jobs(2500, 2)
config = DistilBertConfig(vocab_size=N_EVENTS, max_position_embeddings=LENGTH, dim=64, hidden_dim=128, n_layers=2,
                          n_heads=4, dropout=0.05, attention_dropout=0.0, seq_classif_dropout=0.1,
                          initializer_range=0.1, num_labels=2)
model = DistilBertForSequenceClassification(config)
model.distilbert.embeddings.word_embeddings.weight.requires_grad_(False)
print("trainable", sum(p.numel() for p in model.parameters() if p.requires_grad),
      "fixed", sum(p.numel() for p in model.parameters() if not p.requires_grad))

args = TrainingArguments("out", num_train_epochs=4, per_device_train_batch_size=32, per_device_eval_batch_size=250,
                         learning_rate=1e-3, lr_scheduler_type="linear", warmup_steps=50, weight_decay=0.02,
                         eval_strategy="epoch", save_strategy="no", logging_strategy="epoch", report_to="none",
                         disable_tqdm=True, seed=40)
trainer = BalancedTrainer(model=model, args=args, train_dataset=train, eval_dataset=test, compute_metrics=metrics)
trainer.train()
res = trainer.evaluate()
rate = test.y.mean()
print(f"failing rate {rate:.3f} (average precision of a blind score), log loss of the rate "
      f"{-(rate * math.log(rate) + (1 - rate) * math.log(1 - rate)):.3f}")
print(f"test average precision {res['eval_average_precision']:.3f} auc {res['eval_auc']:.3f} "
      f"log loss {res['eval_log_loss']:.3f}")
