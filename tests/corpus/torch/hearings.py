"""Sentence roles in hearing transcripts: sentence encoder + document-level context encoder, as in hierarchical
sequential sentence classification. The role of an answer depends on who asked the last question."""
import random

import numpy as np
import torch
import torch.nn.functional as F
from datasets import Dataset
from torch import nn
from transformers import BertConfig, BertModel, Trainer, TrainingArguments, set_seed

SEED = 29
set_seed(SEED)
rnd = random.Random(SEED)

ROLES = ["judge_q", "defence_q", "prosecutor_q", "to_judge", "to_defence", "to_prosecutor", "aside"]
ASKS = {
    0: ["the court wishes to know about the", "the bench asks you to describe the"],
    1: ["my client would like you to recall the", "the defence asks whether you saw the"],
    2: ["the state puts it to you that the", "the prosecution asks you to explain the"],
}
ANSWERS = ["i remember the", "i never saw the", "yes there was a", "i cannot speak of the"]
ASIDES = ["the clerk notes the", "there is a pause about the"]
THINGS = "car letter door knife money garden phone witness train window dog coat key".split()
DOC_LEN, SENT_LEN = 8, 12

vocab = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2}
for line in [*sum(ASKS.values(), []), *ANSWERS, *ASIDES, " ".join(THINGS)]:
    for w in line.split():
        vocab.setdefault(w, len(vocab))


def transcript():
    sentences, roles, asker = [], [], None
    while len(sentences) < DOC_LEN:
        r = rnd.random()
        if asker is None or r < 0.3:
            asker = rnd.randrange(3)
            sentences.append(rnd.choice(ASKS[asker]))
            roles.append(asker)
        elif r < 0.85:
            sentences.append(rnd.choice(ANSWERS))
            roles.append(3 + asker)
        else:
            sentences.append(rnd.choice(ASIDES))
            roles.append(6)
    return [f"{s} {rnd.choice(THINGS)}" for s in sentences], roles


def encode(sentence):
    ids = [1] + [vocab[w] for w in sentence.split()][: SENT_LEN - 2] + [2]
    return ids + [0] * (SENT_LEN - len(ids))


def build(n):
    docs = [transcript() for _ in range(n)]
    return Dataset.from_dict({"input_ids": [[encode(s) for s in d[0]] for d in docs], "labels": [d[1] for d in docs]})


class HearingModel(nn.Module):
    def __init__(self, vocab_size, d=64, n_roles=len(ROLES)):
        super().__init__()
        self.sentence = BertModel(BertConfig(vocab_size=vocab_size, hidden_size=d, num_hidden_layers=1,
                                             num_attention_heads=4, intermediate_size=2 * d,
                                             max_position_embeddings=SENT_LEN), add_pooling_layer=False)
        self.position = nn.Parameter(torch.randn(DOC_LEN, d) * 0.1)
        layer = nn.TransformerEncoderLayer(d, nhead=4, dim_feedforward=2 * d, dropout=0.0)
        self.context = nn.TransformerEncoder(layer, num_layers=2)
        self.out = nn.Linear(d, n_roles)

    def forward(self, input_ids, labels=None):
        n_docs, n_sents, n_words = input_ids.shape
        flat = input_ids.reshape(-1, n_words)
        mask = (flat != 0).long()
        states = self.sentence(input_ids=flat, attention_mask=mask).last_hidden_state[:, 0]
        states = states.view(n_docs, n_sents, -1) + self.position
        logits = self.out(self.context(states))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return {"loss": loss, "logits": logits}


def metrics(p):
    pred = p.predictions.argmax(-1)
    gold = p.label_ids
    answers = (gold >= 3) & (gold <= 5)
    return {"accuracy": float((pred == gold).mean()), "answer_accuracy": float((pred == gold)[answers].mean())}


class TwoRateTrainer(Trainer):
    """The sentence encoder learns at half the rate of the layers above."""

    def create_optimizer(self):
        if self.optimizer is None:
            lower = list(self.model.sentence.parameters())
            ids = {id(p) for p in lower}
            upper = [p for p in self.model.parameters() if id(p) not in ids]
            self.optimizer = torch.optim.AdamW([{"params": lower, "lr": self.args.learning_rate / 2},
                                                {"params": upper, "lr": self.args.learning_rate}], weight_decay=0.01)
        return self.optimizer


if __name__ == "__main__":
    train, test = build(800), build(150)
    args = TrainingArguments(output_dir="out", num_train_epochs=10, per_device_train_batch_size=16,
                             per_device_eval_batch_size=16, learning_rate=1.5e-3, warmup_steps=40, logging_steps=50,
                             eval_strategy="epoch", save_strategy="no", report_to="none", disable_tqdm=True, seed=SEED)
    trainer = TwoRateTrainer(model=HearingModel(len(vocab)), args=args, train_dataset=train, eval_dataset=test,
                             compute_metrics=metrics)
    trainer.train()
    print(trainer.evaluate())
