# Echo-state classifier: the recurrent part is random and stays so, only the read-out learns.
import numpy as np
import torch
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed

set_seed(6)
rng = np.random.default_rng(6)
T, UNITS = 60, 200


def tones(n):
    y = rng.integers(0, 4, n)
    t = np.arange(T)
    base = np.array([0.25, 0.4, 0.6, 0.9])[y][:, None]
    f = base * rng.uniform(0.92, 1.08, (n, 1))
    x = np.sin(f * t + rng.uniform(0, 6.28, (n, 1))) + rng.normal(0, 0.25, (n, T))
    return [{"x": torch.tensor(a, dtype=torch.float32), "labels": int(k)} for a, k in zip(x, y)]


class EchoState(nn.Module):
    def __init__(self, radius=0.9):
        super().__init__()
        self.rnn = nn.RNN(1, UNITS, batch_first=True)
        self.readout = nn.Linear(UNITS, 4)
        for p in self.rnn.parameters():
            p.requires_grad = False
        w = torch.randn(UNITS, UNITS) * (torch.rand(UNITS, UNITS) < 0.1)
        w *= radius / torch.linalg.eigvals(w).abs().max()
        self.rnn.weight_hh_l0.copy_(w)
        self.rnn.weight_ih_l0.uniform_(-0.5, 0.5)

    def forward(self, x, labels=None):
        with torch.no_grad():
            states, _ = self.rnn(x.unsqueeze(-1))
        power = states[:, 20:].pow(2).mean(1).sqrt() * 3
        logits = self.readout(power)
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


model = EchoState()
trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
print(f"trainable {trainable} of {sum(p.numel() for p in model.parameters())}")

args = TrainingArguments(
    output_dir="out",
    num_train_epochs=12,
    per_device_train_batch_size=8,
    gradient_accumulation_steps=4,
    per_device_eval_batch_size=200,
    learning_rate=2e-2,
    lr_scheduler_type="linear",
    eval_strategy="epoch",
    save_strategy="no",
    logging_strategy="epoch",
    report_to=[],
    disable_tqdm=True,
    use_cpu=True,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=tones(1600),
    eval_dataset=tones(400),
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
)
trainer.train()
print(trainer.evaluate())
