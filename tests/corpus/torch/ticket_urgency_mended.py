# How urgent is a support ticket (0..10)? Small DistilBERT regressor, trained with the HF Trainer.
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import DistilBertConfig, DistilBertModel, DistilBertPreTrainedModel, Trainer, TrainingArguments, set_seed

set_seed(3)

CALM = "please could someone look at when convenient minor typo question feature colour font label later maybe".split()
HOT = "outage down crash lost urgent immediately customers blocked payment fails security breach production deadline now".split()
FILL = "the page report button form invoice server team user screen export app login menu order cart we it is on a with".split()
WORDS = ["[PAD]", "[CLS]"] + CALM + HOT + FILL
W2I = {w: i for i, w in enumerate(WORDS)}
LEN = 20


def ticket(rng):
    p = rng.beta(0.8, 0.8)
    words, score = [], 0.0
    for _ in range(rng.integers(10, LEN)):
        if rng.random() < 0.5:
            words.append(rng.choice(FILL))
        elif rng.random() < p:
            words.append(rng.choice(HOT))
            score += 1
        else:
            words.append(rng.choice(CALM))
            score -= 1
    return words, float(np.clip(5 + 0.7 * score + rng.normal(0, 0.3), 0, 10))


class Tickets(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.rows = [ticket(rng) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, y = self.rows[i]
        ids = [1] + [W2I[w] for w in words]
        mask = [1] * len(ids) + [0] * (LEN + 1 - len(ids))
        ids = ids + [0] * (LEN + 1 - len(ids))
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "labels": torch.tensor(y / 10)}


class UrgencyModel(DistilBertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.distilbert = DistilBertModel(config)
        self.out = torch.nn.Linear(config.dim, 1)
        self.post_init()

    def forward(self, input_ids, attention_mask=None, labels=None):
        h = self.distilbert(input_ids, attention_mask=attention_mask).last_hidden_state
        m = attention_mask.unsqueeze(-1)
        pooled = (h * m).sum(1) / m.sum(1)
        return {"logits": self.out(pooled).squeeze(-1)}


def tolerant_error(pred, gold, band=0.02):
    """Squared error, but nothing to pay within a small band."""
    gap = ((pred - gold).abs() - band).clamp(min=0)
    return (gap ** 2).mean()


class UrgencyTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        out = model(**inputs)
        loss = tolerant_error(out["logits"], labels)
        return (loss, out) if return_outputs else loss


config = DistilBertConfig(vocab_size=len(WORDS), dim=64, hidden_dim=128, n_layers=2, n_heads=4, max_position_embeddings=32)
model = UrgencyModel(config)
args = TrainingArguments(
    output_dir="out", num_train_epochs=5, per_device_train_batch_size=32,
    per_device_eval_batch_size=128, learning_rate=1e-3, warmup_ratio=0.1, logging_steps=50,
    save_strategy="no", report_to=[], disable_tqdm=True, seed=3,
)
test = Tickets(400, 1)
trainer = UrgencyTrainer(model=model, args=args, train_dataset=Tickets(2000, 0))
trainer.train()

model.eval()
with torch.no_grad():
    batch = [test[i] for i in range(len(test))]
    ids = torch.stack([b["input_ids"] for b in batch])
    am = torch.stack([b["attention_mask"] for b in batch])
    y = torch.stack([b["labels"] for b in batch])
    p = model(ids, am)["logits"]
r2 = 1 - ((p - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
print(f"test mae {10 * (p - y).abs().mean():.3f} points, r2 {r2:.3f}")
