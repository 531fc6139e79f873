"""Route support tickets to a queue with a small BERT and attention pooling."""
import os
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np
import torch
from torch import nn
from transformers import BertConfig, BertModel, BertPreTrainedModel, Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import SequenceClassifierOutput

QUEUES = {
    "billing": "invoice refund charge card payment price subscription receipt tax credit".split(),
    "network": "router wifi signal latency packet vpn firewall dns cable outage".split(),
    "account": "password login reset username email locked profile verify token signup".split(),
    "shipping": "parcel courier delivery tracking address delay box damaged return warehouse".split(),
}
FILLER = ("hello please i my the a is was today still with and help thanks since not "
          "you we again need why can it this that have been on for customer team").split()


def build_vocab():
    words = sorted(set(FILLER) | {w for ws in QUEUES.values() for w in ws})
    return {w: i for i, w in enumerate(["[PAD]", "[CLS]"] + words)}


def make_tickets(n, rng):
    names = list(QUEUES)
    texts, labels = [], []
    for _ in range(n):
        y = rng.integers(len(names))
        length = rng.integers(6, 24)
        words = list(rng.choice(FILLER, size=length))
        spots = rng.choice(length, size=3, replace=False)
        for s in spots[:2]:
            words[s] = rng.choice(QUEUES[names[y]])
        words[spots[2]] = rng.choice(QUEUES[names[rng.integers(len(names))]])
        texts.append(" ".join(words))
        labels.append(int(y))
    return texts, labels


class Tickets(torch.utils.data.Dataset):
    def __init__(self, texts, labels, vocab):
        self.rows = [([1] + [vocab[w] for w in t.split()], y) for t, y in zip(texts, labels)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, y = self.rows[i]
        return {"input_ids": ids, "labels": y}


def collate(batch):
    width = max(len(b["input_ids"]) for b in batch)
    ids = torch.zeros(len(batch), width, dtype=torch.long)
    mask = torch.zeros(len(batch), width, dtype=torch.long)
    for i, b in enumerate(batch):
        n = len(b["input_ids"])
        ids[i, :n] = torch.tensor(b["input_ids"])
        mask[i, :n] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([b["labels"] for b in batch])}


class AttentionPool(nn.Module):
    """Learned token weights, renormalised over the real tokens."""

    def __init__(self, hidden):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, hidden_states, mask):
        weights = torch.softmax(self.score(hidden_states).squeeze(-1), dim=-1)
        weights *= mask
        weights = weights / weights.sum(dim=-1, keepdim=True).clamp_min(1e-6)
        return torch.einsum("bt,bth->bh", weights, hidden_states)


class BertRouter(BertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.pool = AttentionPool(config.hidden_size)
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(self, input_ids=None, attention_mask=None, labels=None):
        h = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        logits = self.classifier(self.dropout(self.pool(h, attention_mask.to(h.dtype))))
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return SequenceClassifierOutput(loss=loss, logits=logits)


def metrics(p):
    pred = p.predictions.argmax(-1)
    return {"accuracy": float((pred == p.label_ids).mean()),
            "majority": float(np.bincount(p.label_ids).max() / len(p.label_ids))}


def main():
    set_seed(7)
    rng = np.random.default_rng(7)
    vocab = build_vocab()
    train = Tickets(*make_tickets(1600, rng), vocab)
    test = Tickets(*make_tickets(400, rng), vocab)

    config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=96, max_position_embeddings=32, num_labels=len(QUEUES))
    model = BertRouter(config)
    args = TrainingArguments(output_dir="out/ticket_router", num_train_epochs=5, per_device_train_batch_size=32,
                             per_device_eval_batch_size=64, learning_rate=1e-3, warmup_ratio=0.1,
                             weight_decay=0.01, logging_steps=50, save_strategy="no", report_to=[], seed=7,
                             disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                      data_collator=collate, compute_metrics=metrics)
    trainer.train()
    scores = trainer.evaluate()
    print(f"test accuracy {scores['eval_accuracy']:.3f} (majority {scores['eval_majority']:.3f})")


if __name__ == "__main__":
    main()
