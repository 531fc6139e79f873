import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (Trainer, TrainingArguments, Wav2Vec2Config, Wav2Vec2ForSequenceClassification, set_seed)

set_seed(11)
rng = np.random.default_rng(11)
RATE, SECONDS = 2000, 1.0
KINDS = ["sound", "chipped_tooth", "worn_bearing", "misaligned"]


def record(kind):
    t = np.arange(int(RATE * SECONDS)) / RATE
    shaft = rng.uniform(18, 26)
    mesh = shaft * 11
    x = np.sin(2 * np.pi * mesh * t + rng.uniform(0, 6))
    if kind == 1:
        phase = (t * shaft + rng.random()) % 1
        x = x + 2.0 * np.exp(-phase * 25) * np.sin(2 * np.pi * 600 * t)
    elif kind == 2:
        x = x + 0.9 * rng.standard_normal(t.size) * (1 + np.sin(2 * np.pi * shaft * 3.6 * t))
    elif kind == 3:
        x = x * (1 + 0.9 * np.sin(2 * np.pi * 2 * shaft * t))
    x = x + 0.5 * rng.standard_normal(t.size)
    return ((x - x.mean()) / x.std()).astype(np.float32)


class Recordings(Dataset):
    def __init__(self, n):
        self.labels = rng.integers(0, len(KINDS), n)
        self.waves = [record(k) for k in self.labels]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_values": torch.from_numpy(self.waves[i]), "labels": int(self.labels[i])}


config = Wav2Vec2Config(
    hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, conv_dim=(32, 32, 48),
    conv_kernel=(10, 8, 4), conv_stride=(5, 4, 2), num_feat_extract_layers=3, num_conv_pos_embeddings=16,
    num_conv_pos_embedding_groups=4, apply_spec_augment=False, classifier_proj_size=48, layerdrop=0.0,
    num_labels=len(KINDS), id2label=dict(enumerate(KINDS)), label2id={k: i for i, k in enumerate(KINDS)})
model = Wav2Vec2ForSequenceClassification(config)
model.freeze_base_model()

trainer = Trainer(
    model=model,
    args=TrainingArguments("out/gearbox", num_train_epochs=10, learning_rate=1e-3, warmup_ratio=0.1,
                           per_device_train_batch_size=16, per_device_eval_batch_size=50, eval_strategy="epoch",
                           logging_steps=25, save_strategy="no", report_to="none", use_cpu=True),
    train_dataset=Recordings(480),
    eval_dataset=Recordings(200),
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
)
trainer.train()
print(trainer.evaluate())
