import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(77)
rng = np.random.default_rng(77)
LEVELS, LENGTH = 16, 12


class BoilerDataset(torch.utils.data.Dataset):
    def __init__(self, n):
        self.codes = rng.integers(0, LEVELS, size=(n, LENGTH))
        effect = self.codes[:, :4].sum(1) * 2.0 - self.codes[:, 4:8].sum(1) * 1.5
        self.temps = 640.0 + effect + rng.normal(0, 1.0, n)

    def __len__(self):
        return len(self.codes)

    def __getitem__(self, i):
        return {"input_ids": torch.tensor(self.codes[i]), "attention_mask": torch.ones(LENGTH, dtype=torch.long),
                "labels": torch.tensor(self.temps[i], dtype=torch.float32)}


train_ds, eval_ds = BoilerDataset(1500), BoilerDataset(300)
MEAN, STD = train_ds.temps.mean(), train_ds.temps.std()


class ScaledTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        pred = outputs.logits.squeeze(-1)
        loss = torch.nn.functional.huber_loss(pred, (labels - MEAN) / STD)
        outputs["loss"] = loss
        return (loss, outputs) if return_outputs else loss


def compute_metrics(p):
    pred = p.predictions.squeeze(-1) * STD + MEAN
    err = pred - p.label_ids
    return {"mae": float(np.abs(err).mean()), "r2": float(1 - (err ** 2).mean() / p.label_ids.var())}


model = BertForSequenceClassification(BertConfig(
    vocab_size=LEVELS, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=LENGTH, num_labels=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
args = TrainingArguments(output_dir="boiler", num_train_epochs=8, per_device_train_batch_size=32, learning_rate=2e-3,
                         warmup_ratio=0.1, logging_steps=50, label_names=["labels"], save_strategy="no",
                         report_to="none", use_cpu=True)
trainer = ScaledTrainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds,
                        compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
