# Crowd labels: 45% of the training labels were clicked at random. Generalised cross entropy keeps us honest.
import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments, set_seed

set_seed(17)
K, NOISE, Q = 6, 0.45, 0.7

X, y = make_classification(n_samples=6000, n_features=24, n_informative=16, n_redundant=4, n_classes=K,
                           n_clusters_per_class=1, class_sep=2.0, flip_y=0.0, random_state=17)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=1000, stratify=y, random_state=17)
scale = StandardScaler().fit(X_tr)
X_tr, X_te = scale.transform(X_tr).astype("float32"), scale.transform(X_te).astype("float32")

gen = np.random.default_rng(17)
clicked = gen.random(len(y_tr)) < NOISE
y_crowd = np.where(clicked, gen.integers(0, K, len(y_tr)), y_tr)
print(f"crowd agrees with the experts on {np.mean(y_crowd == y_tr):.1%} of the rows")


class TabConfig(PretrainedConfig):
    model_type = "tabnet_small"

    def __init__(self, n_in=24, width=64, n_out=K, **kw):
        super().__init__(**kw)
        self.n_in, self.width, self.n_out = n_in, width, n_out


class TabModel(PreTrainedModel):
    config_class = TabConfig

    def __init__(self, config):
        super().__init__(config)
        w = config.width
        self.stem = nn.Linear(config.n_in, w)
        self.gate = nn.Linear(w, w)
        self.mix = nn.Linear(w, w)
        self.norm = nn.LayerNorm(w)
        self.out = nn.Linear(w, config.n_out)
        self.post_init()

    def _init_weights(self, m):
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)
            nn.init.zeros_(m.bias)

    def forward(self, feats, labels=None):
        h = nn.functional.gelu(self.stem(feats))
        h = self.norm(h + torch.sigmoid(self.gate(h)) * self.mix(h))
        return {"logits": self.out(h)}


class RobustTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs["labels"]
        out = model(feats=inputs["feats"])
        p = out["logits"].softmax(-1).gather(1, labels[:, None]).clamp_min(1e-6)
        loss = ((1 - p ** Q) / Q).mean()
        return (loss, out) if return_outputs else loss


def rows(x, t):
    return [{"feats": a, "labels": int(b)} for a, b in zip(x, t)]


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


args = TrainingArguments("out_crowd", num_train_epochs=15, per_device_train_batch_size=100, learning_rate=2e-3,
                         per_device_eval_batch_size=500, logging_strategy="epoch", eval_strategy="epoch",
                         save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
trainer = RobustTrainer(model=TabModel(TabConfig()), args=args, train_dataset=rows(X_tr, y_crowd),
                        eval_dataset=rows(X_te, y_te), compute_metrics=accuracy)
trainer.train()
on_crowd = trainer.predict(rows(X_tr, y_crowd)).metrics["test_accuracy"]
on_truth = trainer.predict(rows(X_te, y_te)).metrics["test_accuracy"]
print(f"agreement with the crowd {on_crowd:.3f}   test accuracy (expert labels) {on_truth:.3f}")
