# Bird calls -> species with a small Wav2Vec2. The convolutional front end is a fixed bank of band-pass filters (never trained),
# the rest learns with SGD + Nesterov momentum under a one-cycle schedule, in bfloat16 autocast.
import numpy as np
import torch
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from torch.utils.data import Dataset
from transformers import (AutoModelForAudioClassification, Trainer, TrainerCallback, TrainingArguments, Wav2Vec2Config,
                          Wav2Vec2FeatureExtractor, set_seed)

set_seed(14)
RATE = 4000
SPECIES = ["rising", "falling", "trill", "double note", "buzz"]
SHARES = [0.35, 0.3, 0.15, 0.12, 0.08]


def call(kind, rng):
    n = int(RATE * rng.uniform(0.35, 0.55))
    t = np.arange(n) / RATE
    base, span = rng.uniform(500, 800), rng.uniform(300, 600)
    x = t / t[-1]
    pitch = {
        "rising": base + span * x,
        "falling": base + span * (1 - x),
        "trill": base + span / 2 * (1 + np.sin(2 * np.pi * rng.uniform(14, 20) * t)),
        "double note": np.where((x * 2).astype(int) % 2 == 0, base, base + span),
        "buzz": base + rng.normal(0, 250, n),
    }[kind]
    wave = np.sin(2 * np.pi * np.cumsum(pitch) / RATE) * np.hanning(n) ** 0.3
    padded = rng.normal(0, 0.8, int(RATE * 0.6))
    at = rng.integers(0, len(padded) - n)
    padded[at:at + n] += wave * rng.uniform(0.6, 1.2)
    return padded.astype(np.float32)


class Calls(Dataset):
    def __init__(self, n, seed, flip=False):
        rng = np.random.default_rng(seed)
        self.y = rng.choice(len(SPECIES), size=n, p=SHARES)
        raw = [call(SPECIES[k], rng) for k in self.y]
        extractor = Wav2Vec2FeatureExtractor(feature_size=1, sampling_rate=RATE, do_normalize=True)
        self.x = extractor(raw, sampling_rate=RATE, return_tensors="pt")["input_values"]
        self.flip = flip

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.x[i]
        if self.flip:  # polarity and a circular shift change nothing about the species
            x = torch.roll(x * np.random.choice([-1, 1]), int(np.random.randint(-200, 200)))
        return {"input_values": x, "labels": int(self.y[i])}


train, valid, test = Calls(1200, 0, flip=True), Calls(300, 1), Calls(500, 2)

config = Wav2Vec2Config(
    hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, conv_dim=(48, 48), conv_kernel=(64, 4),
    conv_stride=(16, 4), conv_bias=False, feat_extract_norm="group", feat_extract_activation="relu", num_conv_pos_embeddings=16,
    num_conv_pos_embedding_groups=4, hidden_dropout=0.0, feat_proj_dropout=0.0, layerdrop=0.0, apply_spec_augment=False,
    classifier_proj_size=64, num_labels=len(SPECIES), id2label=dict(enumerate(SPECIES)), label2id={s: i for i, s in enumerate(SPECIES)})
model = AutoModelForAudioClassification.from_config(config)

with torch.no_grad():  # windowed sines from 200 to 1500 Hz, two phases each
    k = torch.arange(64) / RATE
    window = torch.hann_window(64)
    freqs = torch.linspace(200, 1500, 24)
    bank = torch.cat([torch.sin(2 * np.pi * freqs[:, None] * k), torch.cos(2 * np.pi * freqs[:, None] * k)]) * window / 8
    model.wav2vec2.feature_extractor.conv_layers[0].conv.weight.copy_(bank.unsqueeze(1))
    smooth = torch.zeros(48, 48, 4)
    smooth[torch.arange(48), torch.arange(48)] = 0.25
    model.wav2vec2.feature_extractor.conv_layers[1].conv.weight.copy_(smooth)
model.freeze_feature_encoder()

args = TrainingArguments(
    output_dir="out/bird_calls", num_train_epochs=10, per_device_train_batch_size=32, per_device_eval_batch_size=250,
    bf16=True, use_cpu=not torch.cuda.is_available(), max_grad_norm=1.0, label_smoothing_factor=0.05, eval_strategy="epoch",
    save_strategy="no", logging_strategy="no", report_to="none", disable_tqdm=True, seed=14)
steps = args.num_train_epochs * -(-len(train) // args.per_device_train_batch_size)
norms_and_biases = [p for p in model.parameters() if p.requires_grad and p.ndim < 2]
matrices = [p for p in model.parameters() if p.requires_grad and p.ndim >= 2]
optimizer = torch.optim.SGD([{"params": matrices, "weight_decay": 1e-4}, {"params": norms_and_biases, "weight_decay": 0.0}],
                            lr=0.1, momentum=0.9, nesterov=True)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=[0.15, 0.3], total_steps=steps, pct_start=0.3, cycle_momentum=False)


class Table(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kw):
        print(f"{state.epoch:4.0f}  loss {metrics['eval_loss']:.3f}  balanced accuracy {metrics['eval_balanced']:.3f}  auc {metrics['eval_auc']:.3f}")


def compute_metrics(p):
    logits = p.predictions - p.predictions.max(-1, keepdims=True)
    prob = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    return {"balanced": balanced_accuracy_score(p.label_ids, prob.argmax(-1)), "auc": roc_auc_score(p.label_ids, prob, multi_class="ovr")}


trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid, compute_metrics=compute_metrics,
                  optimizers=(optimizer, schedule), callbacks=[Table()])
trainer.train()
final = trainer.predict(test).metrics
print(f"test balanced accuracy {final['test_balanced']:.3f} (one class always: {1 / len(SPECIES):.3f}), auc {final['test_auc']:.3f}")
