"""A tiny GPT that writes knitting rows, character by character."""
import random
import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(13)
stitches = ["k2 p2", "yo k2tog", "sl1 k1 psso", "p4 k4", "k1 yo k1"]


def row(i):
    s = random.choice(stitches)
    return f"row {i}: " + " ".join([s] * random.randint(2, 4)) + " turn\n"


text = "".join(row(random.randint(1, 99)) for _ in range(1200))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
BLOCK = 48


class Rows(Dataset):
    def __init__(self, data):
        self.data = data

    def __len__(self):
        return (len(self.data) - 1) // BLOCK

    def __getitem__(self, i):
        chunk = self.data[i * BLOCK:i * BLOCK + BLOCK + 1]
        x = chunk[:-1]
        y = chunk[1:]
        return {"input_ids": x, "labels": y}


cut = int(0.9 * len(data))
train_set, val_set = Rows(data[:cut]), Rows(data[cut:])

model = GPT2LMHeadModel(GPT2Config(vocab_size=len(chars), n_positions=64, n_embd=64, n_layer=2, n_head=4,
                                   resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0))
args = TrainingArguments(output_dir="knit", num_train_epochs=5, per_device_train_batch_size=16, learning_rate=2e-3,
                         lr_scheduler_type="cosine", warmup_steps=20, logging_steps=50, eval_strategy="epoch",
                         save_strategy="no", report_to="none", seed=13)
trainer = Trainer(model=model, args=args, train_dataset=train_set, eval_dataset=val_set)
trainer.train()
loss = trainer.evaluate()["eval_loss"]
print(f"validation loss {loss:.3f}  perplexity {np.exp(loss):.2f}")

model.eval()
prompt = torch.tensor([[stoi[c] for c in "row 12: "]], device=model.device)
out = model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=40, do_sample=False, pad_token_id=0)
print("".join(chars[i] for i in out[0].tolist()))
