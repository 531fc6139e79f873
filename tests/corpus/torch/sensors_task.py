# Trainer with an own model: rare alarms, weighted NLL, a target column of its own name, a stream that is mixed already
import numpy as np
import torch
from datasets import Dataset, IterableDataset
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(12)
CHANNELS, STEPS, RARE = 3, 24, 0.08


def stream(n, seed):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        state = int(rng.random() < RARE)
        x = rng.normal(0, 1, (STEPS, CHANNELS)).astype(np.float32)
        if state:
            at = rng.integers(0, STEPS - 6)
            x[at:at + 6, 1] += 2.5
        yield {"readings": x.tolist(), "state": state}


class AlarmNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(CHANNELS, 24, 6), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(24, 2))
        self.register_buffer("weight", torch.tensor([1 / (1 - RARE), 1 / RARE]) / 2)

    def forward(self, readings, state=None):
        log_p = torch.log_softmax(self.net(readings.transpose(1, 2)), dim=-1)
        out = {"log_p": log_p}
        if state is not None:
            out = {"loss": nn.functional.nll_loss(log_p, state, weight=self.weight), **out}
        return out


def compute_metrics(p):
    guess, truth = p.predictions.argmax(-1), p.label_ids
    recall = [float((guess[truth == k] == k).mean()) for k in (0, 1)]
    return {"recall_quiet": recall[0], "recall_alarm": recall[1], "balanced": sum(recall) / 2}


train = IterableDataset.from_generator(stream, gen_kwargs={"n": 16000, "seed": 0})
valid = Dataset.from_list(list(stream(1500, 1)))

args = TrainingArguments("out_sensors", max_steps=500, per_device_train_batch_size=32, per_device_eval_batch_size=250,
                         learning_rate=1e-2, lr_scheduler_type="cosine", label_names=["state"], logging_steps=50,
                         eval_strategy="steps", eval_steps=250, save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=AlarmNet(), args=args, train_dataset=train, eval_dataset=valid, compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
