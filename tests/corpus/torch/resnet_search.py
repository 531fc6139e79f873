"""Which optimizer suits a small ResNet on the digits? Runs are driven by a config dict."""
import os
os.environ["USE_TF"] = "0"
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import Dataset
from transformers import ResNetConfig, ResNetForImageClassification, Trainer, TrainingArguments, set_seed

COMMON = dict(
    num_train_epochs=5, per_device_train_batch_size=32, per_device_eval_batch_size=128,
    lr_scheduler_type="linear", warmup_steps=20, max_grad_norm=1.0,
    save_strategy="no", logging_steps=40, report_to=[], disable_tqdm=True,
)
RUN = {
    "name": "resnet_sgd",
    "overrides": {"optim": "sgd", "weight_decay": 1e-4},
}


class Digits(Dataset):
    def __init__(self, images, targets):
        x = torch.tensor(images, dtype=torch.float32).div(8.0).sub(1.0)
        x = nn.functional.interpolate(x.unsqueeze(1), scale_factor=3, mode="bilinear")
        self.x, self.y = x, torch.tensor(targets)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"pixel_values": self.x[i], "labels": self.y[i]}


def splits():
    d = load_digits()
    xa, xb, ya, yb = train_test_split(d.images, d.target, test_size=0.2, random_state=0, stratify=d.target)
    return Digits(xa, ya), Digits(xb, yb)


def build_model():
    cfg = ResNetConfig(
        num_channels=1, embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1],
        layer_type="basic", num_labels=10,
    )
    return ResNetForImageClassification(cfg)


def metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=1) == p.label_ids).mean())}


def launch(run, train, test):
    set_seed(21)
    args = TrainingArguments(output_dir="/tmp/" + run["name"], **{**COMMON, **run["overrides"]})
    trainer = Trainer(model=build_model(), args=args, train_dataset=train, eval_dataset=test,
                      compute_metrics=metrics)
    trainer.train()
    losses = [h["loss"] for h in trainer.state.log_history if "loss" in h]
    return losses, trainer.evaluate()


if __name__ == "__main__":
    train, test = splits()
    losses, scores = launch(RUN, train, test)
    print(RUN["name"], "first/last logged loss %.3f / %.3f" % (losses[0], losses[-1]))
    print("test loss %.3f  test accuracy %.3f" % (scores["eval_loss"], scores["eval_accuracy"]))
