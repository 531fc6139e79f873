import argparse
import tempfile

import numpy as np
import torch
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from torch.utils.data import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

parser = argparse.ArgumentParser(description="Urgency of patient messages, stratified folds, weighted loss")
parser.add_argument("--folds", type=int, default=3)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--messages", type=int, default=1200)

PAD, CLS, FIRST = 0, 1, 2
VOCAB = 150
URGENT, SOON = range(2, 8), range(8, 18)


def make_messages(n, rng):
    texts, labels = [], []
    for _ in range(n):
        y = rng.choice(3, p=[0.8, 0.14, 0.06])
        body = list(rng.integers(18, VOCAB, rng.integers(8, 24)))
        pool = {0: range(18, 30), 1: SOON, 2: URGENT}[y]
        for _ in range(2):
            body.insert(rng.integers(0, len(body)), rng.choice(list(pool)))
        texts.append([CLS] + [int(t) for t in body])
        labels.append(int(y))
    return texts, np.array(labels)


class Messages(Dataset):
    def __init__(self, texts, labels, index):
        self.items = [(texts[i], int(labels[i])) for i in index]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(items):
    width = max(len(t) for t, _ in items)
    ids = torch.tensor([t + [PAD] * (width - len(t)) for t, _ in items])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": torch.tensor([y for _, y in items])}


class WeightedTrainer(Trainer):
    def __init__(self, *args, class_weights=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.class_weights = class_weights

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = torch.nn.functional.cross_entropy(outputs.logits, labels, weight=self.class_weights)
        return (loss, outputs) if return_outputs else loss


def metrics(p):
    pred = p.predictions.argmax(-1)
    return {"accuracy": (pred == p.label_ids).mean(), "macro_f1": f1_score(p.label_ids, pred, average="macro")}


def main(opt):
    rng = np.random.default_rng(17)
    texts, labels = make_messages(opt.messages, rng)
    print("class counts", np.bincount(labels))
    scores = []
    folds = StratifiedKFold(opt.folds, shuffle=True, random_state=0)
    for k, (tr, va) in enumerate(folds.split(labels, labels)):
        set_seed(100 + k)
        config = DistilBertConfig(
            vocab_size=VOCAB, dim=48, n_layers=2, n_heads=4, hidden_dim=96, max_position_embeddings=40, num_labels=3, pad_token_id=PAD
        )
        weights = torch.tensor(len(tr) / (3 * np.bincount(labels[tr])), dtype=torch.float32)
        args = TrainingArguments(
            output_dir=tempfile.mkdtemp(), num_train_epochs=opt.epochs, per_device_train_batch_size=16,
            per_device_eval_batch_size=128, learning_rate=1e-3, weight_decay=0.01, logging_strategy="epoch",
            save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
        )
        trainer = WeightedTrainer(
            model=DistilBertForSequenceClassification(config), args=args, data_collator=collate,
            train_dataset=Messages(texts, labels, tr), eval_dataset=Messages(texts, labels, va),
            compute_metrics=metrics, class_weights=weights,
        )
        trainer.train()
        res = trainer.evaluate()
        scores.append((res["eval_accuracy"], res["eval_macro_f1"]))
        print(f"fold {k}: accuracy {scores[-1][0]:.3f} macro-F1 {scores[-1][1]:.3f}")
    acc, f1 = np.mean(scores, axis=0)
    print(f"mean accuracy {acc:.3f} macro-F1 {f1:.3f} (majority accuracy {np.bincount(labels).max() / len(labels):.3f})")


if __name__ == "__main__":
    main(parser.parse_args())
