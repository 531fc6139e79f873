"""Flag urgent support tickets (about 8 % of them) with a small ELECTRA, HF Trainer.

Word vectors come from an SVD of the co-occurrence counts and stay fixed.
"""
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from torch import nn
from torch.utils.data import Dataset
from transformers import (ElectraConfig, ElectraForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

LENGTH, DIM, PAD = 16, 32, 0
URGENT = ["outage", "down", "breach", "losing", "crash", "unreachable"]
CALM = ["invoice", "colour", "logo", "newsletter", "profile", "export", "theme", "avatar"]
PLAIN = ["please", "the", "our", "site", "app", "server", "since", "today", "hello", "team",
         "need", "help", "with", "account", "users", "page", "is", "was"]
SOFTEN = ["resolved", "yesterday"]
VOCAB = {w: i + 1 for i, w in enumerate(URGENT + CALM + PLAIN + SOFTEN)}


def ticket(rng):
    words = list(rng.choice(PLAIN, rng.integers(5, 10)))
    label = int(rng.random() < 0.08)
    alarming = label or rng.random() < 0.12
    if alarming:
        for w in rng.choice(URGENT, rng.integers(1, 3), replace=False):
            words.insert(rng.integers(0, len(words)), w)
        if not label:          # an alarm that is over already is not urgent
            words.insert(rng.integers(0, len(words)), rng.choice(SOFTEN))
    else:
        words.insert(rng.integers(0, len(words)), rng.choice(CALM))
    if rng.random() < 0.003:    # mis-filed by the front desk
        label = 1 - label
    return [VOCAB[w] for w in words][:LENGTH], label


class Tickets(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = [ticket(rng) for _ in range(n)]
        self.labels = np.array([y for _, y in self.rows])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(t) for t, _ in rows)
    ids = torch.tensor([t + [PAD] * (width - len(t)) for t, _ in rows])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(),
            "labels": torch.tensor([y for _, y in rows])}


def svd_vectors(data):
    counts = np.zeros((len(VOCAB) + 1, len(VOCAB) + 1))
    for tokens, _ in data.rows:
        for a in tokens:
            counts[a, tokens] += 1
    u, s, _ = np.linalg.svd(np.log1p(counts))
    vectors = u[:, :DIM] * np.sqrt(s[:DIM])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-8
    vectors[PAD] = 0
    return torch.tensor(vectors, dtype=torch.float32)


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weight=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.loss_fn = nn.CrossEntropyLoss(weight=class_weight)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = self.loss_fn(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss

    def create_optimizer(self):
        if self.optimizer is None:
            groups = [
                {"params": [p for p in self.model.electra.parameters() if p.requires_grad],
                 "lr": self.args.learning_rate},
                {"params": self.model.classifier.parameters(), "lr": 3 * self.args.learning_rate},
            ]
            self.optimizer = torch.optim.AdamW(groups, weight_decay=self.args.weight_decay)
        return self.optimizer


def metrics(pred):
    scores = pred.predictions[:, 1] - pred.predictions[:, 0]
    return {"average_precision": average_precision_score(pred.label_ids, scores),
            "f1": f1_score(pred.label_ids, scores > 0)}


set_seed(12)
train, valid, test = Tickets(2000, 1), Tickets(800, 2), Tickets(1200, 3)
model = ElectraForSequenceClassification(ElectraConfig(
    vocab_size=len(VOCAB) + 1, embedding_size=DIM, hidden_size=48, num_hidden_layers=2,
    num_attention_heads=4, intermediate_size=96, max_position_embeddings=LENGTH, num_labels=2))
words = model.electra.embeddings.word_embeddings
words.weight.data.copy_(svd_vectors(train))
words.weight.requires_grad = False

share = train.labels.mean()
weight = torch.tensor([0.5 / (1 - share), 0.5 / share], dtype=torch.float32)
args = TrainingArguments(
    output_dir="out/tickets", num_train_epochs=5, per_device_train_batch_size=16,
    gradient_accumulation_steps=2, per_device_eval_batch_size=200, learning_rate=2e-3,
    lr_scheduler_type="cosine", warmup_ratio=0.1, weight_decay=0.01, eval_strategy="epoch",
    save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
    metric_for_best_model="average_precision", remove_unused_columns=False,
    label_names=["labels"], logging_steps=100, report_to="none", disable_tqdm=True,
    use_cpu=True, seed=12)
trainer = WeightedTrainer(model=model, args=args, train_dataset=train, eval_dataset=valid,
                          data_collator=collate, compute_metrics=metrics, class_weight=weight)
trainer.train()
scores = trainer.evaluate(test, metric_key_prefix="test")
print(f"share of urgent tickets (chance average precision): {test.labels.mean():.3f}")
print(f"test average precision {scores['test_average_precision']:.3f}  F1 {scores['test_f1']:.3f}")
