# Train a very small GPT-2 on fiddle tunes (note tokens), then check how well it
# continues tunes that it has not seen.
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import (GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments,
                          set_seed)

NOTES = ["G3", "A3", "B3", "C4", "D4", "E4", "F#4", "G4", "A4", "B4", "C5", "D5", "E5", "F#5"]
BOS, OFFSET = 0, 1
VOCAB = len(NOTES) + OFFSET


def compose(rng, n_notes):
    """Runs up and down the scale; a leap is always followed by a step back."""
    pos = int(rng.integers(3, 10))
    direction = int(rng.choice([-1, 1]))
    tune = [pos]
    leap_back = False
    for _ in range(n_notes - 1):
        if leap_back:
            pos -= direction
            direction = -direction
            leap_back = False
        elif rng.random() < 0.12:
            pos += 3 * direction
            leap_back = True
        else:
            pos += direction
        if pos >= len(NOTES):
            pos, direction, leap_back = len(NOTES) - 2, -1, False
        elif pos < 0:
            pos, direction, leap_back = 1, 1, False
        tune.append(pos)
    return [BOS] + [p + OFFSET for p in tune]


class TuneDataset(Dataset):
    def __init__(self, n, seed, n_notes=24):
        rng = np.random.default_rng(seed)
        self.tunes = [compose(rng, n_notes) for _ in range(n)]

    def __len__(self):
        return len(self.tunes)

    def __getitem__(self, idx):
        tune = torch.tensor(self.tunes[idx])
        return {"input_ids": tune[:-1], "labels": tune[1:]}


@torch.no_grad()
def continuation_accuracy(model, dataset, n_prompt=12, n_new=1):
    """Greedy continuation from a prompt, compared with the note that really follows."""
    model.eval()
    tunes = torch.tensor(dataset.tunes)
    hits = total = 0
    for cut in range(n_prompt, tunes.shape[1] - n_new, 2):
        prompt = tunes[:, :cut]
        out = model.generate(prompt, attention_mask=torch.ones_like(prompt),
                             max_new_tokens=n_new, do_sample=False, pad_token_id=BOS)
        hits += (out[:, cut:] == tunes[:, cut:cut + n_new]).sum().item()
        total += len(tunes) * n_new
    return hits / total


set_seed(7)
train_ds = TuneDataset(1200, seed=1)
valid_ds = TuneDataset(200, seed=2)
test_ds = TuneDataset(300, seed=3)

config = GPT2Config(vocab_size=VOCAB, n_positions=32, n_embd=48, n_layer=2, n_head=4,
                    bos_token_id=BOS, eos_token_id=None,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = GPT2LMHeadModel(config)

args = TrainingArguments(
    output_dir="out/tunes",
    num_train_epochs=8,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=100,
    learning_rate=3e-3,
    warmup_ratio=0.1,
    lr_scheduler_type="cosine",
    weight_decay=0.01,
    logging_steps=50,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    use_cpu=True,
    seed=7,
)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=valid_ds)
trainer.train()

notes = np.array(train_ds.tunes)[:, 1:]
common = np.bincount(notes.ravel()).argmax()
base = (np.array(test_ds.tunes)[:, 12:] == common).mean()
print(f"most common note: {base:.3f}")
print(f"test next-note accuracy: {continuation_accuracy(model, test_ds):.3f}")

prompt = torch.tensor([test_ds.tunes[0][:8]])
sample = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=12,
                        do_sample=False, pad_token_id=BOS)[0].tolist()
print("sample:", " ".join(NOTES[t - OFFSET] for t in sample if t >= OFFSET))
