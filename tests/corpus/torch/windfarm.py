# Power of a turbine from wind, air density and direction, with an error bar for each forecast.
import numpy as np
import torch
from torch import nn
from transformers import PretrainedConfig, PreTrainedModel, Trainer, TrainingArguments, set_seed

set_seed(9)
rng = np.random.default_rng(9)
n = 4000
wind, rho, angle = rng.uniform(0, 20, n), rng.uniform(1.1, 1.3, n), rng.uniform(0, 2 * np.pi, n)
clean = 1 / (1 + np.exp(-(wind - 9))) * rho + 0.05 * np.cos(angle)
sigma = 0.02 + 0.12 * np.exp(-((wind - 9) / 3) ** 2)
power = clean + sigma * rng.normal(size=n)
feats = np.stack([(wind - 10) / 5.8, (rho - 1.2) / 0.058, np.sin(angle), np.cos(angle)], 1).astype("float32")
power, sigma = power.astype("float32"), sigma.astype("float32")
rows = [{"feats": f, "labels": p} for f, p in zip(feats, power)]


class ForecastConfig(PretrainedConfig):
    model_type = "forecast"

    def __init__(self, width=64, **kw):
        self.width = width
        super().__init__(**kw)


class Forecast(PreTrainedModel):
    config_class = ForecastConfig

    def __init__(self, config):
        super().__init__(config)
        self.net = nn.Sequential(nn.Linear(4, config.width), nn.SiLU(), nn.Linear(config.width, config.width), nn.SiLU(),
                                 nn.Linear(config.width, 2))

    def forward(self, feats, labels=None):
        mean, log_var = self.net(feats).unbind(-1)
        out = {"out": torch.stack([mean, log_var], -1)}
        if labels is not None:
            out = {"loss": 0.5 * (log_var + (labels - mean) ** 2 * torch.exp(-log_var)).mean(), **out}
        return out


def scores(p):
    mean, sd = p.predictions[:, 0], np.exp(0.5 * p.predictions[:, 1])
    rmse = np.sqrt(((mean - p.label_ids) ** 2).mean())
    inside = (np.abs(mean - p.label_ids) < 1.96 * sd).mean()
    return {"rmse": float(rmse), "r2": float(1 - rmse ** 2 / p.label_ids.var()), "coverage95": float(inside),
            "sd_corr": float(np.corrcoef(sd, sigma[3200:])[0, 1])}


args = TrainingArguments("out_windfarm", num_train_epochs=25, per_device_train_batch_size=16, gradient_accumulation_steps=4,
                         learning_rate=4e-3, optim="adafactor", max_grad_norm=5.0, logging_steps=125,
                         eval_strategy="no", save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(Forecast(ForecastConfig()), args, train_dataset=rows[:3200], eval_dataset=rows[3200:], compute_metrics=scores)
trainer.train()
print("best possible rmse:", float(np.sqrt((sigma[3200:] ** 2).mean())))
print(trainer.evaluate())
