import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import RobertaConfig, RobertaForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(13)
rng = np.random.default_rng(13)
PAD, BOS, VOCAB = 1, 0, 150
BAD = np.arange(130, 150)


class Comments(Dataset):
    def __init__(self, n):
        self.rows = []
        for _ in range(n):
            words = rng.integers(3, 130, rng.integers(6, 22))
            label = int(rng.random() < 0.5)
            if label:
                spots = rng.choice(len(words), 2, replace=False)
                words[spots] = rng.choice(BAD, 2)
            self.rows.append(([BOS] + words.tolist(), label))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    width = max(len(ids) for ids, _ in rows)
    ids = torch.full((len(rows), width), PAD)
    for i, (row, _) in enumerate(rows):
        ids[i, :len(row)] = torch.tensor(row)
    return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": torch.tensor([y for _, y in rows])}


def compute_metrics(p):
    pred = p.predictions.argmax(axis=1)
    return {"accuracy": float((pred == p.label_ids).mean()), "share_flagged": float(pred.mean())}


config = RobertaConfig(vocab_size=VOCAB, hidden_size=64, num_hidden_layers=3, num_attention_heads=4,
                       intermediate_size=128, max_position_embeddings=40, pad_token_id=PAD, bos_token_id=BOS, num_labels=2)
model = RobertaForSequenceClassification(config)

training_args = TrainingArguments(
    output_dir="out_toxic",
    learning_rate=5e-2,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    num_train_epochs=4,
    weight_decay=0.01,
    eval_strategy="epoch",
    logging_steps=25,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)
trainer = Trainer(model=model, args=training_args, train_dataset=Comments(1600), eval_dataset=Comments(400),
                  data_collator=collate, compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
