import random

import torch
from torch.utils.data import Dataset, SequentialSampler
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(61)
PAD, CLS = 0, 1
WEIGHTS = [-3, -2, -1, 1, 2, 3]


def plank(length):
    while True:
        children = random.choices(WEIGHTS, k=length)
        if sum(children) != 0:
            return children, int(sum(children) > 0)


class Planks(Dataset):
    def __init__(self, lengths):
        self.rows = [plank(n) for n in lengths]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        children, label = self.rows[i]
        return [CLS] + [2 + WEIGHTS.index(w) for w in children], label


def collate(batch):
    width = max(len(ids) for ids, _ in batch)
    ids = torch.tensor([ids + [PAD] * (width - len(ids)) for ids, _ in batch])
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": torch.tensor([k for _, k in batch])}


class CurriculumTrainer(Trainer):
    def _get_train_sampler(self, *args, **kwargs):
        return SequentialSampler(self.train_dataset)


train_ds = Planks(sorted(random.choices(range(1, 13), k=2400)))
eval_ds = Planks(random.choices(range(1, 13), k=400))
model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(WEIGHTS) + 2, dim=32, hidden_dim=64, n_layers=2, n_heads=2, max_position_embeddings=16, num_labels=2))
args = TrainingArguments(output_dir="seesaw", num_train_epochs=5, per_device_train_batch_size=32, learning_rate=1e-3,
                         warmup_steps=30, eval_strategy="epoch", logging_steps=75, save_strategy="no", report_to="none",
                         use_cpu=True)
trainer = CurriculumTrainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds, data_collator=collate,
                            compute_metrics=lambda p: {"acc": float((p.predictions.argmax(-1) == p.label_ids).mean())})
trainer.train()
print(trainer.evaluate())
