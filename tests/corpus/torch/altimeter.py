import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import SequenceClassifierOutput

set_seed(23)
rng = np.random.default_rng(23)


def flights(n):
    pressure = rng.uniform(400, 1013, n)
    temperature = rng.normal(5, 8, n)
    drift = rng.normal(0, 1, n)
    height = 44330 * (1 - (pressure / 1013.25) ** 0.1903) + 12 * temperature + 30 * drift + 21000
    return np.stack([pressure, temperature, drift], 1).astype("float32"), height.astype("float32")


class FlightData(Dataset):
    def __init__(self, x, y):
        self.x, self.y = torch.from_numpy(x), torch.from_numpy(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"readings": self.x[i], "labels": self.y[i]}


class AltimeterConfig(PretrainedConfig):
    model_type = "altimeter"

    def __init__(self, width=48, **kw):
        super().__init__(**kw)
        self.width = width


class AltimeterModel(PreTrainedModel):
    config_class = AltimeterConfig

    def __init__(self, config):
        super().__init__(config)
        for name, size in [("x_mean", 3), ("x_std", 3), ("y_mean", 1), ("y_std", 1)]:
            self.register_buffer(name, torch.ones(size))
        self.net = nn.Sequential(nn.Linear(3, config.width), nn.SiLU(), nn.Linear(config.width, config.width),
                                 nn.SiLU(), nn.Linear(config.width, 1))

    def fit_scales(self, x, y):
        self.x_mean.copy_(torch.from_numpy(x.mean(0)))
        self.x_std.copy_(torch.from_numpy(x.std(0)))
        self.y_mean.fill_(float(y.mean()))
        self.y_std.fill_(float(y.std()))

    def forward(self, readings, labels=None):
        z = self.net((readings - self.x_mean) / self.x_std).squeeze(-1)
        loss = None
        if labels is not None:
            loss = nn.functional.huber_loss(z, (labels - self.y_mean) / self.y_std)
        return SequenceClassifierOutput(loss=loss, logits=z * self.y_std + self.y_mean)


x, y = flights(1600)
model = AltimeterModel(AltimeterConfig())
model.fit_scales(x[:1300], y[:1300])


def compute_metrics(p):
    err = p.predictions - p.label_ids
    return {"mae_feet": float(np.abs(err).mean()), "r2": float(1 - (err ** 2).mean() / p.label_ids.var())}


args = TrainingArguments("altimeter", num_train_epochs=15, per_device_train_batch_size=50, learning_rate=4e-3,
                         lr_scheduler_type="linear", eval_strategy="steps", eval_steps=130, logging_steps=65,
                         save_strategy="no", report_to="none", seed=23)
trainer = Trainer(model=model, args=args, train_dataset=FlightData(x[:1300], y[:1300]),
                  eval_dataset=FlightData(x[1300:], y[1300:]), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
