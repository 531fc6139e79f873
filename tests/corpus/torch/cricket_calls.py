import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import ASTConfig, ASTForAudioClassification, Trainer, TrainingArguments

torch.manual_seed(0)
rng = np.random.default_rng(0)
SPECIES = ["field", "house", "bush", "mole"]


def make_clip(kind):
    """log-mel like patch: 32 frames, 16 bins, a chirp rhythm in a band"""
    spec = rng.normal(0, 0.4, (32, 16))
    band = 2 + 3 * kind + rng.integers(0, 2)
    start = rng.integers(0, 4)
    spec[start::4, band:band + 2] += 2.0
    return spec.astype("float32")


class CricketDataset(Dataset):
    def __init__(self, n):
        self.kinds = rng.integers(0, len(SPECIES), n)
        self.clips = [make_clip(k) for k in self.kinds]

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, i):
        return {"input_values": torch.from_numpy(self.clips[i]), "species": int(self.kinds[i])}


train_set, test_set = CricketDataset(600), CricketDataset(160)

config = ASTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, patch_size=8,
                   frequency_stride=8, time_stride=8, max_length=32, num_mel_bins=16, num_labels=len(SPECIES),
                   id2label=dict(enumerate(SPECIES)), label2id={s: i for i, s in enumerate(SPECIES)})
model = ASTForAudioClassification(config)


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": (logits.argmax(axis=-1) == labels).mean()}


args = TrainingArguments(
    output_dir="cricket_ast",
    per_device_train_batch_size=32,
    num_train_epochs=6,
    learning_rate=2e-3,
    warmup_ratio=0.1,
    logging_steps=19,
    eval_strategy="epoch",
    save_strategy="no",
    report_to=[],
)
trainer = Trainer(model=model, args=args, train_dataset=train_set, eval_dataset=test_set,
                  compute_metrics=compute_metrics)
trainer.train()
print("test accuracy:", trainer.evaluate()["eval_accuracy"])
