import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2Model, Trainer, TrainingArguments, set_seed

set_seed(7)
phrases = {
    "weather": ["will it rain", "how warm is it", "is it sunny", "do i need an umbrella"],
    "music": ["play some jazz", "next song please", "turn the volume up", "play my list"],
    "timer": ["set a timer", "wake me up", "remind me", "count ten minutes"],
    "light": ["switch the lamp on", "make it darker", "lights off", "dim the kitchen"],
}
names = list(phrases)
fill_before = ["", "hey", "please", "could you", "now"]
fill_after = ["", "today", "for me", "tomorrow morning", "in the living room", "thanks a lot"]


def sample():
    y = random.randrange(4)
    s = f"{random.choice(fill_before)} {random.choice(phrases[names[y]])} {random.choice(fill_after)}"
    return " ".join(s.split()), y


pairs = [sample() for _ in range(1000)]
vocab = {"[PAD]": 0, "[CLS]": 1}
for s, _ in pairs:
    for w in s.split():
        vocab.setdefault(w, len(vocab))


class Utterances(Dataset):
    def __init__(self, items, length=14):
        self.items, self.length = items, length

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        text, y = self.items[i]
        ids = [1] + [vocab[w] for w in text.split()]
        pad = self.length - len(ids)
        return {"input_ids": torch.tensor(ids + [0] * pad),
                "attention_mask": torch.tensor([1] * len(ids) + [0] * pad), "labels": torch.tensor(y)}


class IntentModel(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.body = GPT2Model(GPT2Config(vocab_size=len(vocab), n_positions=16, n_embd=48, n_layer=2, n_head=4))
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(48, n_classes))

    def forward(self, input_ids, attention_mask=None, labels=None):
        hidden = self.body(input_ids, attention_mask=attention_mask).last_hidden_state
        logits = self.head(hidden[:, 0])
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return {"loss": loss, "logits": logits}


def metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


args = TrainingArguments("out_intents", num_train_epochs=6, per_device_train_batch_size=16, learning_rate=1e-3,
                         eval_strategy="epoch", logging_strategy="epoch", save_strategy="no", report_to="none",
                         use_cpu=True, disable_tqdm=True)
trainer = Trainer(IntentModel(4), args, train_dataset=Utterances(pairs[:800]),
                  eval_dataset=Utterances(pairs[800:]), compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
