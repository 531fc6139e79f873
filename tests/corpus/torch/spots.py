"""Find the bright spot in a small noisy frame with a tiny ViT."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import TensorDataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTModel, set_seed

set_seed(2)
SIZE = 24
g = torch.Generator().manual_seed(2)
N = 1500
xy = torch.rand(N, 2, generator=g) * (SIZE - 1)
grid = torch.arange(SIZE).float()
gx = torch.exp(-((grid[None] - xy[:, :1]) ** 2) / 6)
gy = torch.exp(-((grid[None] - xy[:, 1:]) ** 2) / 6)
frames = gy[:, :, None] * gx[:, None, :] + 0.1 * torch.randn(N, SIZE, SIZE, generator=g)
train = TensorDataset(frames[:1250, None], xy[:1250])
test = TensorDataset(frames[1250:, None], xy[1250:])


def collate(batch):
    return {"pixel_values": torch.stack([b[0] for b in batch]), "labels": torch.stack([b[1] for b in batch])}


class SpotFinder(nn.Module):
    def __init__(self):
        super().__init__()
        cfg = ViTConfig(image_size=SIZE, patch_size=6, num_channels=1, hidden_size=64, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=128)
        self.vit = ViTModel(cfg, add_pooling_layer=False)
        self.head = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 2), nn.Sigmoid())

    def forward(self, pixel_values, labels=None):
        h = self.vit(pixel_values).last_hidden_state.mean(1)
        point = self.head(h)
        loss = None
        if labels is not None:
            loss = nn.functional.mse_loss(point, labels)
        return {"loss": loss, "point": point}


def pixel_error(p):
    d = np.sqrt(((p.predictions - p.label_ids) ** 2).sum(-1))
    return {"mean_px": float(d.mean()), "within_2px": float((d < 2).mean())}


args = TrainingArguments(output_dir="out_spots", num_train_epochs=15, per_device_train_batch_size=32,
                         learning_rate=2e-3, warmup_ratio=0.05, logging_steps=80, save_strategy="no", eval_strategy="epoch",
                         remove_unused_columns=False, report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=SpotFinder(), args=args, train_dataset=train, eval_dataset=test,
                  data_collator=collate, compute_metrics=pixel_error)
trainer.train()
print(trainer.evaluate())
