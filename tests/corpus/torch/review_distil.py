"""Teacher of ordinary size taught first, then a small student learns from its softened answers (Trainer, twice)."""
import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed)

set_seed(17)
rng = np.random.default_rng(17)
GOOD = "lovely crisp bright tasty warm friendly quick fresh".split()
BAD = "stale cold rude slow bland greasy noisy damp".split()
THING = "soup bread waiter table music dessert coffee salad window price".split()
NEG = ["not", "never"]
GLUE = "the was and a quite our very with".split()
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]"] + GOOD + BAD + THING + NEG + GLUE)}
MAXLEN = 24


def review():
    words, mood = [], 0
    for _ in range(rng.integers(2, 5)):
        pos = rng.random() < 0.5
        flip = rng.random() < 0.3
        words += [rng.choice(GLUE), rng.choice(THING), "was"] + ([rng.choice(NEG)] if flip else [])
        w = rng.choice(GOOD if pos else BAD)
        words.append("zz" + w if rng.random() < 0.03 else w)      # spelling slips become [UNK]
        mood += 1 if pos != flip else -1
    return words, mood


class Reviews(Dataset):
    def __init__(self, n, labelled=True):
        self.rows, self.labelled = [], labelled
        while len(self.rows) < n:
            w, m = review()
            if m != 0:
                self.rows.append((w, int(m > 0)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        w, y = self.rows[i]
        ids = [VOCAB["[CLS]"]] + [VOCAB.get(t, 1) for t in w]
        return {"input_ids": ids[:MAXLEN], "labels": y if self.labelled else -100}


def collate(rows):
    longest = max(len(r["input_ids"]) for r in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    for i, r in enumerate(rows):
        ids[i, :len(r["input_ids"])] = torch.tensor(r["input_ids"])
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": torch.tensor([r["labels"] for r in rows])}


def build(dim, layers, heads):
    return DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(VOCAB), dim=dim, hidden_dim=2 * dim, n_layers=layers, n_heads=heads, max_position_embeddings=MAXLEN,
        num_labels=2, pad_token_id=0, dropout=0.05, attention_dropout=0.0, seq_classif_dropout=0.1))


class DistilTrainer(Trainer):
    def __init__(self, *a, teacher, temperature=2.0, **k):
        super().__init__(*a, **k)
        self.teacher = teacher.eval().requires_grad_(False)
        self.temperature = temperature

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        with torch.no_grad():
            soft = self.teacher(**inputs).logits
        t = self.temperature
        loss = F.kl_div(F.log_softmax(out.logits / t, -1), F.log_softmax(soft / t, -1), log_target=True,
                        reduction="batchmean") * t * t
        inputs["labels"] = labels          # Trainer reads them again for the metrics
        return (loss, out) if return_outputs else loss


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def arguments(name, epochs, lr):
    return TrainingArguments(output_dir=f"out", num_train_epochs=epochs, learning_rate=lr,
                             per_device_train_batch_size=64, per_device_eval_batch_size=256, eval_strategy="epoch",
                             save_strategy="no", logging_steps=40, warmup_ratio=0.1, report_to=[], use_cpu=True,
                             disable_tqdm=True, seed=17)


train, test = Reviews(2500), Reviews(600)
plain = Reviews(3500, labelled=False)          # no labels at all: only the teacher speaks here
teacher = build(64, 2, 4)
tt = Trainer(model=teacher, args=arguments("teacher", 6, 1.5e-3), train_dataset=train, eval_dataset=test,
             data_collator=collate, compute_metrics=accuracy)
tt.train()
student = build(32, 2, 4)
st = DistilTrainer(model=student, args=arguments("student", 8, 3e-3), train_dataset=plain, eval_dataset=test,
                   data_collator=collate, compute_metrics=accuracy, teacher=teacher)
st.train()
print("teacher", tt.evaluate()["eval_accuracy"], "student", st.evaluate()["eval_accuracy"],
      "weights", sum(p.numel() for p in teacher.parameters()), "->", sum(p.numel() for p in student.parameters()))
