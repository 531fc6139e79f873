"""Flag suspicious payment notes (5 % positives) with a small BERT and the HF Trainer."""
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(77)
rng = np.random.default_rng(77)
VOCAB, CLS, PAD = 300, 1, 0
RISKY = np.arange(10, 40)          # one of them is harmless, three in a note are not
PLAIN = np.arange(40, VOCAB)


def note(risky):
    n = rng.integers(8, 20)
    words = rng.choice(PLAIN, n)
    if risky:
        words[rng.choice(n, 3, replace=False)] = rng.choice(RISKY, 3)
    elif rng.random() < 0.4:
        words[rng.integers(n)] = rng.choice(RISKY)
    return [CLS] + words.tolist()


class Notes(Dataset):
    def __init__(self, n, rate):
        self.y = (rng.random(n) < rate).astype(int)
        self.x = [note(t) for t in self.y]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": self.x[i], "labels": int(self.y[i])}


def collate(batch):
    width = max(len(b["input_ids"]) for b in batch)
    ids = torch.tensor([[PAD] * (width - len(b["input_ids"])) + b["input_ids"][::-1] for b in batch]).flip(1)
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(),
            "labels": torch.tensor([b["labels"] for b in batch])}


class CostTrainer(Trainer):
    """A missed fraud costs eight times a false alarm."""

    cost = torch.tensor([1.0, 8.0])

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        out = model(**inputs)
        loss = torch.nn.functional.cross_entropy(out.logits, labels, weight=self.cost)
        return (loss, out) if return_outputs else loss


def metrics(p):
    prob = torch.from_numpy(p.predictions).softmax(-1)[:, 1].numpy()
    return {"ap": average_precision_score(p.label_ids, prob), "f1": f1_score(p.label_ids, prob > 0.9)}


train, test = Notes(4000, 0.05), Notes(2000, 0.05)
model = BertForSequenceClassification(BertConfig(
    vocab_size=VOCAB, hidden_size=48, num_hidden_layers=1, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=32, hidden_dropout_prob=0.1, initializer_range=0.1, num_labels=2))
# order carries nothing in these notes: the positions stay at zero
model.bert.embeddings.position_embeddings.weight.data.zero_()
model.bert.embeddings.position_embeddings.weight.requires_grad_(False)

args = TrainingArguments(
    output_dir="out/fraud", num_train_epochs=5, per_device_train_batch_size=32,
    per_device_eval_batch_size=500, learning_rate=3e-3, lr_scheduler_type="linear", warmup_steps=60,
    weight_decay=0.01, max_grad_norm=1.0, eval_strategy="epoch", save_strategy="no", logging_strategy="epoch",
    label_names=["labels"], report_to=[], disable_tqdm=True, use_cpu=True, seed=77, remove_unused_columns=False)
trainer = CostTrainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                      data_collator=collate, compute_metrics=metrics)
trainer.train()
m = trainer.evaluate()
rule = np.array([any(w in RISKY for w in r) for r in test.x], int)
print(f"held-out average precision {m['eval_ap']:.3f} (prevalence {test.y.mean():.3f})  F1 {m['eval_f1']:.3f}  "
      f"(keyword rule: AP {average_precision_score(test.y, rule):.3f}, F1 {f1_score(test.y, rule):.3f})")
