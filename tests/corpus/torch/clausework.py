"""Contract clauses: tagging with a small encoder and a linear-chain CRF on top."""
import random
import tempfile

import numpy as np
import torch
import torch.nn as nn
from transformers import ElectraConfig, ElectraModel, PreTrainedModel, Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import TokenClassifierOutput

TAGS = ["O", "B-PARTY", "I-PARTY", "B-SUM", "I-SUM", "B-TERM", "I-TERM"]
TAG = {t: i for i, t in enumerate(TAGS)}
PARTY = ["acme", "borealis", "castor", "delphi", "and", "sons", "works", "mills"]
SUM = ["ten", "forty", "hundred", "thousand", "crowns", "marks", "and"]
TERM = ["thirty", "sixty", "days", "months", "and", "nights", "hundred"]
PLAIN = "the tenant shall pay to within of lease and sum upon if rent due notice hereby agrees with not".split()
WORDS = {"[PAD]": 0}
for w in PARTY + SUM + TERM + PLAIN:
    WORDS.setdefault(w, len(WORDS))


def phrase(rng, kind):
    pool = {"PARTY": PARTY, "SUM": SUM, "TERM": TERM}[kind]
    body = [rng.choice(pool) for _ in range(rng.randint(1, 3))]
    if kind == "SUM":
        body.append(rng.choice(["crowns", "marks"]))
    if kind == "TERM":
        body.append(rng.choice(["days", "months", "nights"]))
    if kind == "PARTY":
        body.insert(0, rng.choice(PARTY[:4]))
    return body, [f"B-{kind}"] + [f"I-{kind}"] * (len(body) - 1)


def clause(rng):
    words, tags = [], []
    for _ in range(rng.randint(2, 3)):
        for _ in range(rng.randint(2, 4)):
            words.append(rng.choice(PLAIN))
            tags.append("O")
        body, marks = phrase(rng, rng.choice(["PARTY", "SUM", "TERM"]))
        words += body
        tags += marks
    return {"input_ids": [WORDS[w] for w in words], "labels": [TAG[t] for t in tags]}


class CRF(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.trans = nn.Parameter(torch.empty(n, n).uniform_(-0.1, 0.1))
        self.start = nn.Parameter(torch.zeros(n))
        self.end = nn.Parameter(torch.zeros(n))

    def log_likelihood(self, em, tags, mask):
        rows = torch.arange(len(em))
        gold = self.start[tags[:, 0]] + em[:, 0].gather(1, tags[:, :1]).squeeze(1)
        alpha = self.start + em[:, 0]
        for t in range(1, em.size(1)):
            keep = mask[:, t]
            step = self.trans[tags[:, t - 1], tags[:, t]] + em[:, t].gather(1, tags[:, t:t + 1]).squeeze(1)
            gold = gold + step * keep
            nxt = torch.logsumexp(alpha[:, :, None] + self.trans, 1) + em[:, t]
            alpha = torch.where(keep[:, None], nxt, alpha)
        last = mask.sum(1) - 1
        gold = gold + self.end[tags[rows, last]]
        return gold - torch.logsumexp(alpha + self.end, 1)

    @torch.no_grad()
    def viterbi(self, em, mask):
        score, back = self.start + em[:, 0], []
        for t in range(1, em.size(1)):
            best, arg = (score[:, :, None] + self.trans).max(1)
            keep = mask[:, t, None]
            score = torch.where(keep, best + em[:, t], score)
            back.append(torch.where(keep, arg, torch.arange(em.size(2)).expand_as(arg)))
        path = [(score + self.end).argmax(1)]
        for arg in reversed(back):
            path.append(arg.gather(1, path[-1][:, None]).squeeze(1))
        return torch.stack(path[::-1], 1)


class ClauseTagger(PreTrainedModel):
    config_class = ElectraConfig

    def __init__(self, config):
        super().__init__(config)
        self.electra = ElectraModel(config)
        self.emit = nn.Linear(config.hidden_size, len(TAGS))
        self.crf = CRF(len(TAGS))
        self.post_init()

    def forward(self, input_ids, attention_mask, labels=None):
        em = self.emit(self.electra(input_ids, attention_mask=attention_mask).last_hidden_state)
        mask = attention_mask.bool()
        loss = None
        if labels is not None:
            loss = -self.crf.log_likelihood(em, labels.clamp(min=0), mask).mean()
        path = em.new_zeros(em.shape[:2], dtype=torch.long) if self.training else self.crf.viterbi(em, mask)
        return TokenClassifierOutput(loss=loss, logits=path)


class ClauseTrainer(Trainer):
    def create_optimizer(self):
        if self.optimizer is None:
            crf = list(self.model.crf.parameters())
            ids = {id(p) for p in crf}
            rest = [p for p in self.model.parameters() if id(p) not in ids]
            self.optimizer = torch.optim.AdamW([
                {"params": rest, "lr": self.args.learning_rate, "weight_decay": 0.01},
                {"params": crf, "lr": 50 * self.args.learning_rate, "weight_decay": 0.0}])
        return self.optimizer


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    pad = lambda xs, v: torch.tensor([x + [v] * (width - len(x)) for x in xs])
    ids = pad([r["input_ids"] for r in rows], 0)
    return {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": pad([r["labels"] for r in rows], -100)}


def spans(seq):
    out, start = set(), None
    for i, t in enumerate(list(seq) + [0]):
        name = TAGS[t]
        if start is not None and not (name.startswith("I-") and name[2:] == start[1]):
            out.add((start[0], i, start[1]))
            start = None
        if name.startswith("B-"):
            start = (i, name[2:])
    return out


def span_f1(p):
    hit = guess_n = gold_n = 0
    for guess, gold in zip(p.predictions, p.label_ids):
        keep = gold != -100
        a, b = spans(guess[keep]), spans(gold[keep])
        hit, guess_n, gold_n = hit + len(a & b), guess_n + len(a), gold_n + len(b)
    return {"span_f1": 2 * hit / max(1, guess_n + gold_n)}


if __name__ == "__main__":
    set_seed(55)
    rng = random.Random(55)
    train, test = [clause(rng) for _ in range(800)], [clause(rng) for _ in range(150)]
    cfg = ElectraConfig(vocab_size=len(WORDS), embedding_size=32, hidden_size=48, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=96, max_position_embeddings=32)
    with tempfile.TemporaryDirectory() as tmp:
        args = TrainingArguments(tmp, num_train_epochs=7, learning_rate=1e-3, per_device_train_batch_size=16,
                                 per_device_eval_batch_size=50, eval_strategy="epoch", save_strategy="no",
                                 max_grad_norm=5.0, logging_steps=50, report_to="none", disable_tqdm=True)
        trainer = ClauseTrainer(model=ClauseTagger(cfg), args=args, train_dataset=train, eval_dataset=test,
                                data_collator=collate, compute_metrics=span_f1)
        trainer.train()
        print(trainer.evaluate())
