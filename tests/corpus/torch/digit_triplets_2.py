"""Metric learning on digits with batch-hard triplets under the Trainer; scored by nearest neighbour."""
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed


class Glyphs(Dataset):
    def __init__(self, x, y, seed):
        # poor scans: uneven ink, a tilted background and speckle
        rng = np.random.default_rng(seed)
        ink = rng.uniform(0.5, 1.2, (len(x), 1, 1))
        slope = rng.uniform(-1.5, 1.5, (len(x), 1, 1)) * np.linspace(-1, 1, 8)
        x = ink * x / 16.0 + slope + rng.normal(0, 0.08, x.shape)
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"glyph": self.x[i], "labels": self.y[i]}


class ClassBalancedBatches(Sampler):
    """Every batch holds `classes` digits with `per_class` images each."""

    def __init__(self, labels, classes, per_class, batches, seed=0):
        self.by_class = [np.flatnonzero(labels == c) for c in np.unique(labels)]
        self.classes, self.per_class, self.batches = classes, per_class, batches
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            chosen = self.rng.choice(len(self.by_class), self.classes, replace=False)
            yield [int(i) for c in chosen for i in self.rng.choice(self.by_class[c], self.per_class, replace=False)]


class Embedder(nn.Module):
    def __init__(self, margin=0.3):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 32))
        self.margin = margin

    def batch_hard(self, z, y):
        dist = (2 - 2 * z @ z.T).clamp(min=1e-6).sqrt()
        same = y[:, None] == y[None]
        eye = torch.eye(len(y), dtype=torch.bool)
        hardest_pos = dist.masked_fill(~same | eye, -1.0).amax(1)
        hardest_neg = dist.masked_fill(same, 9.0).amin(1)
        return F.relu(hardest_pos - hardest_neg + self.margin).mean()

    def forward(self, glyph, labels=None):
        z = F.normalize(self.net(glyph), dim=-1)
        return {"loss": self.batch_hard(z, labels), "embedding": z}


class TripletTrainer(Trainer):
    def get_train_dataloader(self):
        sampler = ClassBalancedBatches(self.train_dataset.y.numpy(), classes=8, per_class=6, batches=40)
        return DataLoader(self.train_dataset, batch_sampler=sampler, collate_fn=self.data_collator)


def neighbour_accuracy(z, y):
    """Every point takes the class of its nearest other point."""
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    sim = z @ z.T
    np.fill_diagonal(sim, -2)
    return float((y[sim.argmax(1)] == y).mean())


def leave_one_out(pred):
    return {"nn_acc": neighbour_accuracy(pred.predictions, pred.label_ids)}


class Report(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print(f"step {state.global_step}: neighbour accuracy {metrics['eval_nn_acc']:.4f}")


def main():
    set_seed(12)
    d = load_digits()
    x_tr, x_te, y_tr, y_te = train_test_split(d.images, d.target, test_size=0.3, random_state=0,
                                              stratify=d.target)
    train, test = Glyphs(x_tr, y_tr, 1), Glyphs(x_te, y_te, 2)
    args = TrainingArguments(
        output_dir="out/triplets", num_train_epochs=20, learning_rate=2e-3, weight_decay=1e-4,
        per_device_eval_batch_size=180, eval_strategy="epoch", save_strategy="no", logging_strategy="epoch",
        report_to="none", disable_tqdm=True, use_cpu=True)
    model = Embedder()
    trainer = TripletTrainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                             compute_metrics=leave_one_out, callbacks=[Report()])
    trainer.train()
    raw = neighbour_accuracy(test.x.flatten(1).numpy(), test.y.numpy())
    print("held-out nearest-neighbour accuracy %.4f (raw pixels %.4f)" % (trainer.evaluate()["eval_nn_acc"], raw))


if __name__ == "__main__":
    main()
