"""Urgent-ticket detection with a tiny BERT whose lower half comes from masked-word training and then stays as it is."""
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from torch import nn
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForMaskedLM, BertForSequenceClassification, Trainer, TrainingArguments, set_seed)

PAD, CLS, SEP, MASK = 0, 1, 2, 3
LEN = 20
SUBJECTS = ["printer", "laptop", "mail", "vpn", "server", "badge", "screen", "phone"]
CALM = ["slow", "old", "noisy", "dim", "full", "dusty"]
GRAVE = ["down", "dead", "burning", "locked", "breached", "leaking"]
GLUE = ["the", "is", "not", "my", "please", "again", "since", "today", "and", "but", "office", "team", "help", "we"]
VOCAB = {w: i + 4 for i, w in enumerate(SUBJECTS + CALM + GRAVE + GLUE)}


def ticket(rng):
    """Urgent when something grave is said without a 'not' in front of it."""
    urgent = rng.random() < 0.12
    words = list(rng.choice(GLUE[3:], rng.integers(1, 4)))
    for k in range(int(rng.integers(1, 4))):
        words += ["the", str(rng.choice(SUBJECTS)), "is"]
        if urgent and k == 0:
            words.append(str(rng.choice(GRAVE)))
        elif rng.random() < 0.5:
            words += ["not", str(rng.choice(GRAVE))]
        else:
            words += (["not"] if rng.random() < 0.3 else []) + [str(rng.choice(CALM))]
    words = words[: LEN - 2]
    ids = [CLS] + [VOCAB[str(w)] for w in words] + [SEP]
    return ids + [PAD] * (LEN - len(ids)), int(urgent)


class Tickets(Dataset):
    def __init__(self, n, seed, masked=False):
        rng = np.random.default_rng(seed)
        rows = [ticket(rng) for _ in range(n)]
        self.ids = torch.tensor([r[0] for r in rows])
        self.y = torch.tensor([r[1] for r in rows])
        self.masked = masked

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        ids = self.ids[i]
        item = {"input_ids": ids, "attention_mask": (ids != PAD).long()}
        if not self.masked:
            return {**item, "labels": self.y[i]}
        hide = (torch.rand(LEN) < 0.2) & (ids > MASK)
        return {**item, "input_ids": ids.masked_fill(hide, MASK), "labels": ids.masked_fill(~hide, -100)}


class RareClassTrainer(Trainer):
    def __init__(self, *args, class_weight, **kw):
        super().__init__(*args, **kw)
        self.class_weight = class_weight

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        loss = nn.functional.cross_entropy(out.logits, labels, weight=self.class_weight.to(out.logits.device))
        return (loss, out) if return_outputs else loss


def metrics(p):
    score = p.predictions[:, 1] - p.predictions[:, 0]
    return {"ap": average_precision_score(p.label_ids, score), "f1": f1_score(p.label_ids, score > 0)}


def settings(name, epochs, lr, **kw):
    return TrainingArguments(output_dir=f"out/{name}", num_train_epochs=epochs, learning_rate=lr, per_device_train_batch_size=64,
                             per_device_eval_batch_size=200, report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
                             label_names=["labels"], **kw)


set_seed(8)
config = BertConfig(vocab_size=len(VOCAB) + 4, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                    max_position_embeddings=LEN, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=2)
mlm = BertForMaskedLM(config)
Trainer(mlm, settings("mlm", 6, 2e-3, logging_steps=64), train_dataset=Tickets(2000, 1, masked=True)).train()

train, dev = Tickets(1500, 2), Tickets(600, 3)
model = BertForSequenceClassification(config)
print(model.bert.load_state_dict(mlm.bert.state_dict(), strict=False))
for part in (model.bert.embeddings, model.bert.encoder.layer[0]):
    part.requires_grad_(False)
print("trainable", sum(p.numel() for p in model.parameters() if p.requires_grad), "of", model.num_parameters())

share = train.y.float().mean()
weight = torch.stack([1 / (1 - share), 1 / share]) / 2
trainer = RareClassTrainer(model, settings("triage", 8, 2e-3, eval_strategy="epoch", logging_steps=24, gradient_accumulation_steps=1, warmup_steps=20),
                           train_dataset=train, eval_dataset=dev, compute_metrics=metrics, class_weight=weight)
trainer.train()
end = trainer.evaluate(Tickets(1000, 4))
print(f"held-out AP {end['eval_ap']:.3f} F1 {end['eval_f1']:.3f} (urgent share {share:.3f})")
