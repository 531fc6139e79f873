# Topic model first, then the same body is fine-tuned for the tone of a ticket.
import numpy as np
import torch
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainerCallback,
                          TrainingArguments, set_seed)

set_seed(4)
rng = np.random.default_rng(4)

TOPIC_WORDS = [
    "printer toner paper tray scanner".split(),
    "password login account reset token".split(),
    "invoice refund payment card charge".split(),
    "router wifi cable signal modem".split(),
]
POS, NEG = "helpful fast polite solved clear".split(), "useless slow rude stuck confusing".split()
FILL = "i the my it is was this your with again today please".split()
VOCAB = ["<pad>", "<cls>", "not"] + sum(TOPIC_WORDS, []) + POS + NEG + FILL
ID = {w: i for i, w in enumerate(VOCAB)}
LEN = 14


def topic_ticket():
    k = int(rng.integers(4))
    words = list(rng.choice(TOPIC_WORDS[k], 3)) + list(rng.choice(FILL, 6)) + list(rng.choice(POS + NEG + ["not"], 2))
    rng.shuffle(words)
    return words, k


def tone_ticket():
    good, negated = rng.random() < 0.5, rng.random() < 0.25
    core = (["not"] if negated else []) + [str(rng.choice(POS if good else NEG))]
    rest = list(rng.choice(FILL, 6)) + list(rng.choice(sum(TOPIC_WORDS, []), 3))
    rng.shuffle(rest)
    cut = int(rng.integers(0, len(rest)))
    return rest[:cut] + core + rest[cut:], int(good != negated)


class Tickets(torch.utils.data.Dataset):
    def __init__(self, make, n):
        self.rows = []
        for _ in range(n):
            words, y = make()
            ids = [ID["<cls>"]] + [ID[w] for w in words]
            mask = [1] * len(ids) + [0] * (LEN - len(ids))
            self.rows.append({"input_ids": ids + [0] * (LEN - len(ids)), "attention_mask": mask, "labels": y})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class GradualThaw(TrainerCallback):
    """The new head gets some epochs alone before the body joins in."""

    def __init__(self, body, head_only_epochs=1):
        self.body, self.head_only_epochs = body, head_only_epochs

    def on_init_end(self, args, state, control, **kwargs):
        self.body.requires_grad_(False)

    def on_epoch_begin(self, args, state, control, **kwargs):
        if round(state.epoch or 0) == self.head_only_epochs:
            self.body.requires_grad_(True)
            print(f"epoch {state.epoch:.0f}: body thawed")


def arguments(name, epochs, lr):
    return TrainingArguments(output_dir=f"out", num_train_epochs=epochs, learning_rate=lr,
                             per_device_train_batch_size=32, per_device_eval_batch_size=200, eval_strategy="epoch",
                             save_strategy="no", logging_steps=80, report_to=[], disable_tqdm=True, use_cpu=True)


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


shape = dict(vocab_size=len(VOCAB), dim=48, hidden_dim=96, n_layers=2, n_heads=4, max_position_embeddings=LEN,
             pad_token_id=0, dropout=0.05)

topic_model = DistilBertForSequenceClassification(DistilBertConfig(num_labels=4, **shape))
Trainer(topic_model, arguments("topic", 2, 1e-3), train_dataset=Tickets(topic_ticket, 2000),
        eval_dataset=Tickets(topic_ticket, 400), compute_metrics=accuracy).train()

tone_model = DistilBertForSequenceClassification(DistilBertConfig(num_labels=2, **shape))
tone_model.distilbert.load_state_dict(topic_model.distilbert.state_dict())
trainer = Trainer(tone_model, arguments("tone", 6, 1e-3), train_dataset=Tickets(tone_ticket, 3000),
                  eval_dataset=Tickets(tone_ticket, 600), compute_metrics=accuracy,
                  callbacks=[GradualThaw(tone_model.distilbert)])
trainer.train()
print(trainer.evaluate())
