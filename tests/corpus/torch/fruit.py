import numpy as np
import torch
import torch.nn as nn
from transformers import Trainer, TrainingArguments, set_seed
from transformers.modeling_outputs import ImageClassifierOutput

set_seed(5)
rng = np.random.default_rng(5)
colours = np.array([[0.35, 0.55, 0.20], [0.60, 0.58, 0.22], [0.70, 0.38, 0.20]])  # green, turning, ripe
yy, xx = np.mgrid[:20, :20]


def photo(k):
    cx, cy, r = rng.uniform(8, 12), rng.uniform(8, 12), rng.uniform(5, 8)
    disk = ((xx - cx) ** 2 + (yy - cy) ** 2 < r * r)[..., None]
    colour = colours[k] + rng.normal(0, 0.05, 3)
    img = np.where(disk, colour, 0.5 + rng.normal(0, 0.03))
    return (img + rng.normal(0, 0.06, img.shape)).clip(0, 1).transpose(2, 0, 1).astype("float32")


class Fruit(torch.utils.data.Dataset):
    def __init__(self, n):
        self.y = rng.integers(0, 3, n)
        self.x = np.stack([photo(k) for k in self.y])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"pixel_values": torch.from_numpy(self.x[i]), "labels": int(self.y[i])}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))
        self.features = nn.Sequential(block(3, 16), block(16, 32), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(32, 3)

    def forward(self, pixel_values, labels=None):
        logits = self.fc(self.drop(self.features(pixel_values)))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return ImageClassifierOutput(loss=loss, logits=logits)


train_ds, test_ds = Fruit(900), Fruit(300)
model = Net()
trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir="out_fruit", num_train_epochs=6, per_device_train_batch_size=32,
                           learning_rate=3e-3, logging_steps=29, save_strategy="no", report_to="none",
                           use_cpu=True, disable_tqdm=True),
    train_dataset=train_ds,
)
trainer.train()

names = ["green", "turning", "ripe"]
table = np.zeros((3, 3), int)
with torch.no_grad():
    for item in test_ds:
        logits = model(item["pixel_values"].unsqueeze(0)).logits
        table[item["labels"], logits.argmax(-1).item()] += 1
for name, row in zip(names, table):
    print(f"{name:>8}", row)
print("accuracy on the test photos:", table.trace() / table.sum())
