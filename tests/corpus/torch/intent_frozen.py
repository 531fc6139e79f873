"""Intent detection: random fixed word vectors stay frozen, label noise softened, gradients accumulated."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer,
                          TrainingArguments, set_seed)

INTENTS = {
    "play": "song album artist volume track radio".split(),
    "weather": "rain sunny forecast degrees storm umbrella".split(),
    "alarm": "wake timer snooze minutes morning remind".split(),
    "lights": "lamp dim bright bulb kitchen bedroom".split(),
    "order": "pizza menu deliver basket pay table".split(),
}
COMMON = "please can you the a to for now my me some with at in what would like it".split()
WORDS = ["<pad>", "<cls>"] + COMMON + sum(INTENTS.values(), [])
LOOKUP = {w: i for i, w in enumerate(WORDS)}


class Utterances(Dataset):
    def __init__(self, n, rng, flip=0.0):
        self.rows = []
        names = list(INTENTS)
        for _ in range(n):
            k = rng.integers(len(names))
            ws = list(rng.choice(COMMON, rng.integers(3, 8))) + list(rng.choice(INTENTS[names[k]], 2))
            rng.shuffle(ws)
            y = rng.integers(len(names)) if rng.random() < flip else k
            self.rows.append({"ids": [1] + [LOOKUP[w] for w in ws], "label": int(y)})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    n = max(len(r["ids"]) for r in rows)
    ids = torch.tensor([r["ids"] + [0] * (n - len(r["ids"])) for r in rows])
    return {"input_ids": ids, "attention_mask": (ids > 0).long(), "labels": torch.tensor([r["label"] for r in rows])}


class SmoothTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        out = model(**inputs)
        smoothing = 0.1 if model.training else 0.0
        loss = nn.functional.cross_entropy(out.logits, labels, label_smoothing=smoothing)
        out["loss"] = loss
        return (loss, out) if return_outputs else loss


def main():
    set_seed(23)
    rng = np.random.default_rng(23)
    train, test = Utterances(2400, rng, flip=0.1), Utterances(500, rng)
    model = DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(WORDS), dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=24,
        num_labels=len(INTENTS), initializer_range=0.05))
    for p in model.distilbert.embeddings.word_embeddings.parameters():
        p.requires_grad_(False)
    print("trainable share", round(sum(p.numel() for p in model.parameters() if p.requires_grad)
                                   / sum(p.numel() for p in model.parameters()), 3))
    args = TrainingArguments("out", num_train_epochs=8, learning_rate=1e-3,
                             per_device_train_batch_size=8, gradient_accumulation_steps=4,
                             lr_scheduler_type="cosine", warmup_steps=30, remove_unused_columns=False,
                             eval_strategy="epoch", save_strategy="no", logging_steps=50, label_names=["labels"],
                             report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = SmoothTrainer(model, args, data_collator=collate, train_dataset=train, eval_dataset=test,
                            compute_metrics=lambda p: {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())})
    trainer.train()
    print("accuracy on clean test utterances", round(trainer.evaluate()["eval_acc"], 3))


if __name__ == "__main__":
    main()
