import numpy as np
import torch
from torch import nn
from datasets import Dataset
from sklearn.metrics import roc_auc_score
from transformers import Trainer, TrainingArguments, set_seed

set_seed(17)
rng = np.random.default_rng(17)
USERS, SHOWS, N = 60, 40, 9000
taste, style = rng.normal(size=(USERS, 4)), rng.normal(size=(SHOWS, 4))
patience = rng.uniform(600, 2400, USERS)
u, s = rng.integers(0, USERS, N), rng.integers(0, SHOWS, N)
affinity = (taste[u] * style[s]).sum(1)
liked = (affinity + rng.normal(0, 0.3, N) > 0).astype("float32")
seconds = (patience[u] * rng.uniform(0.5, 1.0, N)).astype("float32")

ds = Dataset.from_dict({"user": u, "show": s, "liked": liked, "seconds": seconds}).train_test_split(0.2, seed=17)


class PodcastModel(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.user_emb = nn.Embedding(USERS, dim)
        self.show_emb = nn.Embedding(SHOWS, dim)
        self.body = nn.Sequential(nn.Linear(3 * dim, 64), nn.ReLU())
        self.like_head = nn.Linear(64, 1)
        self.time_head = nn.Linear(64, 1)

    def forward(self, user, show, liked=None, seconds=None):
        a, b = self.user_emb(user), self.show_emb(show)
        h = self.body(torch.cat([a, b, a * b], dim=-1))
        like = self.like_head(h).squeeze(-1)
        time = self.time_head(h).squeeze(-1)
        like_loss = nn.functional.binary_cross_entropy_with_logits(like, liked)
        time_loss = nn.functional.mse_loss(time, seconds)
        return {"loss": like_loss + time_loss, "like": like, "time": time}


def compute_metrics(p):
    like, _ = p.predictions
    liked, _ = p.label_ids
    return {"like_auc": roc_auc_score(liked, like)}


args = TrainingArguments("podcasts", num_train_epochs=10, per_device_train_batch_size=64, learning_rate=1e-2,
                         label_names=["liked", "seconds"], eval_strategy="epoch", logging_strategy="epoch",
                         save_strategy="no", report_to="none", seed=17)
trainer = Trainer(PodcastModel(), args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
