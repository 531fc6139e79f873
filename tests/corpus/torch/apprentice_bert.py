import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(23)
rng = np.random.default_rng(23)
GUILDS, LEN, CLS = 5, 16, 1


class Orders(Dataset):
    def __init__(self, n, noise=0.0):
        self.rows = []
        for _ in range(n):
            k = int(rng.integers(GUILDS))
            ids = rng.integers(40, 80, LEN)
            ids[rng.choice(LEN, 3, replace=False)] = 5 + 6 * k + rng.integers(0, 6, 3)
            label = int(rng.integers(GUILDS)) if rng.random() < noise else k
            self.rows.append((np.concatenate([[CLS], ids]), label))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        ids, label = self.rows[i]
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.ones(len(ids), dtype=torch.long), "labels": label}


def bert(dim, layers):
    return BertForSequenceClassification(BertConfig(vocab_size=80, hidden_size=dim, num_hidden_layers=layers,
                                                    num_attention_heads=4, intermediate_size=2 * dim,
                                                    max_position_embeddings=32, num_labels=GUILDS))


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def arguments(name, epochs, **kw):
    return TrainingArguments(f"apprentice_{name}", num_train_epochs=epochs, learning_rate=2e-3, warmup_ratio=0.1,
                             per_device_train_batch_size=32, per_device_eval_batch_size=100, eval_strategy="epoch",
                             save_strategy="no", logging_steps=20, report_to="none", use_cpu=True, **kw)


class DistilTrainer(Trainer):
    def __init__(self, *args, teacher, temperature=3.0, alpha=0.3, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher.eval().requires_grad_(False)
        self.temperature, self.alpha = temperature, alpha

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        with torch.no_grad():
            target = self.teacher(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
        t = self.temperature
        soft = F.kl_div(F.log_softmax(outputs.logits / t, -1), F.softmax(target / t, -1), reduction="batchmean") * t * t
        loss = self.alpha * outputs.loss + (1 - self.alpha) * soft
        return (loss, outputs) if return_outputs else loss


train, valid = Orders(1200), Orders(200)
teacher = bert(96, 2)
first = Trainer(model=teacher, args=arguments("teacher", 4, label_smoothing_factor=0.1), train_dataset=train,
                eval_dataset=valid, compute_metrics=accuracy)
first.train()
print("teacher", first.evaluate())

student = bert(64, 1)
second = DistilTrainer(model=student, args=arguments("student", 8), train_dataset=Orders(1200, noise=0.2),
                       eval_dataset=valid, compute_metrics=accuracy, teacher=teacher)
second.train()
print("student", second.evaluate())
