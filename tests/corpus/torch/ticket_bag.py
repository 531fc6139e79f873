import random
import re
import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(31)
rnd = random.Random(31)
QUEUES = {
    "billing": "invoice refund charge card payment receipt price tax".split(),
    "network": "wifi router vpn slow connection cable signal dns".split(),
    "account": "password login email locked reset username profile delete".split(),
    "hardware": "screen keyboard battery fan mouse printer noise broken".split(),
}
COMMON = "hello my the is please help since yesterday again i cannot it with on for team thanks still".split()
NAMES = list(QUEUES)


def ticket(q):
    words = rnd.choices(COMMON, k=rnd.randint(6, 20)) + rnd.choices(QUEUES[q], k=rnd.randint(1, 3))
    if rnd.random() < 0.25:
        words.append(rnd.choice(QUEUES[rnd.choice(NAMES)]))
    rnd.shuffle(words)
    return " ".join(words) + rnd.choice([".", "!", "?"])


def tokens(text):
    return re.findall(r"[a-z]+", text.lower())


samples = [(ticket(q), NAMES.index(q)) for q in rnd.choices(NAMES, k=1500)]
vocab = {w: i for i, w in enumerate(sorted({w for t, _ in samples[:1200] for w in tokens(t)}))}
train_rows = [{"text": t, "target": y} for t, y in samples[:1200]]
test_rows = [{"text": t, "target": y} for t, y in samples[1200:]]


class BagCollator:
    def __init__(self, vocab):
        self.vocab = vocab

    def __call__(self, rows):
        flat, offsets = [], []
        for r in rows:
            offsets.append(len(flat))
            flat += [self.vocab[w] for w in tokens(r["text"]) if w in self.vocab]
        return {"flat_ids": torch.tensor(flat), "offsets": torch.tensor(offsets),
                "target": torch.tensor([r["target"] for r in rows])}


class BagClassifier(nn.Module):
    def __init__(self, n_words, dim, n_out):
        super().__init__()
        self.bag = nn.EmbeddingBag(n_words, dim, mode="mean")
        self.fc = nn.Linear(dim, n_out)

    def forward(self, flat_ids, offsets, target=None):
        logits = self.fc(self.bag(flat_ids, offsets))
        if target is None:
            return {"logits": logits}
        return {"loss": nn.functional.cross_entropy(logits, target), "logits": logits}


model = BagClassifier(len(vocab), 32, len(NAMES))
args = TrainingArguments(
    output_dir="out", num_train_epochs=12, per_device_train_batch_size=16, per_device_eval_batch_size=100,
    remove_unused_columns=False, label_names=["target"], max_grad_norm=0.0,
    eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
    report_to="none", use_cpu=True, disable_tqdm=True)
sgd = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
linear = torch.optim.lr_scheduler.LambdaLR(sgd, lambda step: max(0.02, 1 - step / 900))
trainer = Trainer(
    model=model, args=args, train_dataset=train_rows, eval_dataset=test_rows, data_collator=BagCollator(vocab),
    optimizers=(sgd, linear),
    compute_metrics=lambda p: {"accuracy": float((np.argmax(p.predictions, 1) == p.label_ids).mean())})
trainer.train()
out = trainer.evaluate()
print(f"accuracy {out['eval_accuracy']:.3f}  loss {out['eval_loss']:.4f}  (chance 0.25)")
