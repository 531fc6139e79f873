"""Transfer with gradual unfreezing: a ViT that has learnt the digits 0-4 is adapted to 5-9 with few examples."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from transformers import Trainer, TrainerCallback, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

SEED = 8
set_seed(SEED)


class Digits(torch.utils.data.Dataset):
    def __init__(self, images, labels, jitter=False):
        self.images = torch.tensor(images / 16.0, dtype=torch.float32).unsqueeze(1)
        self.labels = torch.tensor(labels)
        self.jitter = jitter

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        x = self.images[i]
        if self.jitter:
            dy, dx = np.random.randint(-1, 2, size=2)
            x = torch.roll(x, (int(dy), int(dx)), dims=(1, 2))
        return {"pixel_values": x * 2 - 1, "labels": self.labels[i]}


def make_model(id2label):
    config = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=48, num_hidden_layers=3, num_attention_heads=4,
                       intermediate_size=96, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, id2label=id2label,
                       label2id={v: k for k, v in id2label.items()}, initializer_range=0.05)
    return ViTForImageClassification(config)


def training_args(name, **kw):
    return TrainingArguments(output_dir=f"out/{name}", per_device_train_batch_size=32, per_device_eval_batch_size=256,
                             save_strategy="no", report_to="none", disable_tqdm=True, logging_strategy="epoch", seed=SEED,
                             lr_scheduler_type="cosine", **kw)


def accuracy(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


class GradualUnfreeze(TrainerCallback):
    """Trains the new classifier alone for a few epochs and lets the whole network learn afterwards."""

    def __init__(self, backbone, start_epoch):
        self.backbone = backbone
        self.start_epoch = start_epoch
        self.backbone.requires_grad_(False)

    def on_epoch_begin(self, args, state, control, **kwargs):
        if round(state.epoch) == self.start_epoch:
            self.backbone.requires_grad_(True)
            n = sum(p.numel() for p in self.backbone.parameters() if p.requires_grad)
            print(f"epoch {self.start_epoch}: {n} backbone weights unfrozen")


images, target = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8)
low, high = target < 5, target >= 5

# ---- stage 1: the source task
xs_train, xs_test, ys_train, ys_test = train_test_split(images[low], target[low], test_size=0.2, stratify=target[low], random_state=SEED)
base = make_model({i: str(i) for i in range(5)})
source = Trainer(model=base, args=training_args("digits_low", num_train_epochs=28, learning_rate=1.5e-3),
                 train_dataset=Digits(xs_train, ys_train, jitter=True), compute_metrics=accuracy)
source.train()
print("accuracy on held-out digits 0-4:", round(source.evaluate(Digits(xs_test, ys_test))["eval_accuracy"], 3))

# ---- stage 2: the new digits
x_train, x_test, y_train, y_test = train_test_split(images[high], target[high] - 5, train_size=400, stratify=target[high], random_state=SEED)
model = make_model({i: str(i + 5) for i in range(5)})
model.vit.load_state_dict(base.vit.state_dict())

trainer = Trainer(
    model=model,
    args=training_args("digits_high", num_train_epochs=40, learning_rate=2e-3, warmup_ratio=0.05, eval_strategy="epoch"),
    train_dataset=Digits(x_train, y_train, jitter=True),
    eval_dataset=Digits(x_test, y_test),
    compute_metrics=accuracy,
    callbacks=[GradualUnfreeze(model.vit, start_epoch=4)],
)
trainer.train()

final = trainer.evaluate()["eval_accuracy"]
chance = np.bincount(y_test).max() / len(y_test)
print(f"accuracy on held-out digits 5-9: {final:.3f} (largest class {chance:.3f})")
for row in [r for r in trainer.state.log_history if "eval_accuracy" in r][3:-1:5]:
    print(f"   epoch {row['epoch']:.0f}: {row['eval_accuracy']:.3f}")
