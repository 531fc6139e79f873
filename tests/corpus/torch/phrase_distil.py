import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments,
                          set_seed)

# Teacher and student on "does the mood word that follows NOT count the other way?" reviews
set_seed(31)
rng = np.random.default_rng(31)
GOOD = "good fine lovely warm fresh tasty".split()
BAD = "bad cold stale dull salty late".split()
REST = "the soup was and staff were food very we had a room table it came with bread".split()
VOCAB = ["[PAD]", "[CLS]", "not"] + GOOD + BAD + REST
ID = {w: i for i, w in enumerate(VOCAB)}
L = 20


def review():
    words = list(rng.choice(REST, rng.integers(6, 12)))
    total = 0
    while total == 0:
        out, total = list(words), 0
        for _ in range(rng.integers(1, 4)):
            sign = rng.choice([1, -1])
            neg = rng.random() < 0.3
            chunk = (["not"] if neg else []) + [rng.choice(GOOD if sign > 0 else BAD)]
            out.insert(int(rng.integers(len(out) + 1)), " ".join(chunk))
            total += -sign if neg else sign
    toks = " ".join(out).split()[:L - 1]
    ids = [1] + [ID[w] for w in toks]
    return {"input_ids": ids + [0] * (L - len(ids)), "attention_mask": [1] * len(ids) + [0] * (L - len(ids)),
            "labels": int(total > 0)}


def bert(width, layers):
    return BertForSequenceClassification(BertConfig(
        vocab_size=len(VOCAB), hidden_size=width, num_hidden_layers=layers, num_attention_heads=4,
        intermediate_size=2 * width, max_position_embeddings=L, num_labels=2,
        hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.05, initializer_range=0.1))


def metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


class DistilTrainer(Trainer):
    def __init__(self, *args, teacher, alpha=0.7, temp=2.0, **kw):
        super().__init__(*args, **kw)
        self.teacher = teacher.eval().requires_grad_(False)
        self.alpha, self.temp = alpha, temp

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        out = model(**inputs)
        if not model.training:
            return (out.loss, out) if return_outputs else out.loss
        with torch.no_grad():
            soft = self.teacher(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
        kl = F.kl_div(F.log_softmax(out.logits / self.temp, -1), F.softmax(soft / self.temp, -1),
                      reduction="batchmean") * self.temp ** 2
        loss = self.alpha * kl + (1 - self.alpha) * out.loss
        return (loss, out) if return_outputs else loss


def arguments(epochs, lr):
    return TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=epochs, learning_rate=lr, warmup_ratio=0.1,
        per_device_train_batch_size=64, per_device_eval_batch_size=250, eval_strategy="epoch",
        save_strategy="no", logging_strategy="epoch", report_to="none", use_cpu=True, disable_tqdm=True)


labelled = [review() for _ in range(4000)]
val = [review() for _ in range(500)]

teacher = bert(64, 2)
t = Trainer(model=teacher, args=arguments(9, 1.5e-3), train_dataset=labelled, eval_dataset=val,
            compute_metrics=metrics)
t.train()
print("teacher", t.evaluate()["eval_accuracy"])

student = bert(32, 2)
# the student starts from the teacher's word table, cut to half its width by PCA, and keeps it as it is
table = teacher.bert.embeddings.word_embeddings.weight.detach()
_, _, v = torch.pca_lowrank(table, q=32)
student.bert.embeddings.word_embeddings.weight.data.copy_(table @ v)
student.bert.embeddings.word_embeddings.weight.requires_grad = False

s = DistilTrainer(model=student, args=arguments(10, 3e-3), train_dataset=labelled, eval_dataset=val,
                  compute_metrics=metrics, teacher=teacher)
s.train()
print("student", s.evaluate()["eval_accuracy"], "trainable",
      sum(p.numel() for p in student.parameters() if p.requires_grad))
