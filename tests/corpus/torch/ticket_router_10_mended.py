"""
Support ticket routing. Word vectors are computed once from co-occurrence counts on a large unlabelled
corpus (PPMI + SVD), put into a small BERT and kept fixed; the encoder is trained on labelled tickets.
"""
import numpy as np
import torch
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed)

DIM, VOCAB, LENGTH = 48, 200, 16
CLS = 0
N_TOPICS = 4
rng = np.random.default_rng(8)
topic_words = [np.arange(10 + 40 * k, 10 + 40 * (k + 1)) for k in range(N_TOPICS)]
filler = np.arange(2, 10)


def make_ticket(rng):
    """The ticket mentions two topics; the customer names the real problem first, then what else was tried."""
    a, b = rng.choice(N_TOPICS, size=2, replace=False)
    words = rng.choice(filler, size=LENGTH - 1)
    slots = np.sort(rng.choice(LENGTH - 1, size=6, replace=False))
    for s, o in zip(slots, [a, a, a, b, b, b]):
        words[s] = rng.choice(topic_words[o])
    return np.concatenate([[CLS], words]), a


def word_vectors(rng, n_docs=4000, window=3):
    counts = np.full((VOCAB, VOCAB), 0.05)
    for _ in range(n_docs):
        topic = topic_words[rng.integers(N_TOPICS)]
        doc = np.where(rng.random(12) < 0.6, rng.choice(topic, 12), rng.choice(filler, 12))
        for d in range(1, window + 1):
            np.add.at(counts, (doc[:-d], doc[d:]), 1.0)
            np.add.at(counts, (doc[d:], doc[:-d]), 1.0)
    p = counts / counts.sum()
    ppmi = np.maximum(np.log(p / (p.sum(1, keepdims=True) * p.sum(0, keepdims=True))), 0)
    u, s, _ = np.linalg.svd(ppmi)
    vec = u[:, :DIM] * np.sqrt(s[:DIM])
    vec = (vec - vec.mean(0)) / (vec.std() + 1e-8)
    return torch.tensor(vec, dtype=torch.float32)


class Tickets(torch.utils.data.Dataset):
    def __init__(self, n, rng):
        rows = [make_ticket(rng) for _ in range(n)]
        self.x = torch.tensor(np.stack([r[0] for r in rows]))
        self.y = torch.tensor([int(r[1]) for r in rows])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"input_ids": self.x[i], "labels": self.y[i]}


def build_model():
    cfg = BertConfig(vocab_size=VOCAB, hidden_size=DIM, num_hidden_layers=2, num_attention_heads=4,
                     intermediate_size=128, max_position_embeddings=LENGTH, num_labels=N_TOPICS,
                     hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.0, initializer_range=0.1)
    model = BertForSequenceClassification(cfg)
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight.copy_(word_vectors(rng))
        model.bert.embeddings.position_embeddings.weight.normal_(0, 0.5)
    for p in model.bert.embeddings.parameters():
        p.requires_grad = False
    return model


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


set_seed(8)
train_ds, eval_ds = Tickets(3000, rng), Tickets(500, rng)
model = build_model()
n_train = sum(p.numel() for p in model.parameters() if p.requires_grad)
print(f"trainable parameters: {n_train} of {model.num_parameters()}")

args = TrainingArguments(
    output_dir="out/tickets",
    max_steps=360,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=250,
    learning_rate=2e-3,
    warmup_steps=40,
    max_grad_norm=1.0,
    gradient_checkpointing=True,
    gradient_checkpointing_kwargs={"use_reentrant": False},
    eval_strategy="steps",
    eval_steps=90,
    logging_steps=60,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds, compute_metrics=accuracy)
trainer.train()
metrics = trainer.evaluate()
majority = torch.bincount(eval_ds.y).max().item() / len(eval_ds)
print(f"held-out accuracy {metrics['eval_accuracy']:.3f} (majority class {majority:.3f})")
