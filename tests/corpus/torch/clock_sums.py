"""Decoder-only model answers '14+11=01;' style clock sums; only the answer counts in the loss."""
import random
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments, set_seed

set_seed(19)
CH = "0123456789+=;_"
enc = {c: i for i, c in enumerate(CH)}
PAD = enc["_"]
HOURS = 12


def example(a, b):
    prompt, answer = f"{a}+{b}=", f"{(a + b) % HOURS};"
    ids = [enc[c] for c in prompt + answer]
    return {"input_ids": ids, "labels": [-100] * len(prompt) + ids[len(prompt):]}


pairs = [(a, b) for a in range(HOURS) for b in range(HOURS)]
random.shuffle(pairs)
train_rows = [example(a, b) for a, b in pairs for _ in range(12)]


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    batch = {"input_ids": [], "attention_mask": [], "labels": []}
    for r in rows:
        gap = width - len(r["input_ids"])
        batch["input_ids"].append(r["input_ids"] + [PAD] * gap)
        batch["attention_mask"].append([1] * len(r["input_ids"]) + [0] * gap)
        batch["labels"].append(r["labels"] + [-100] * gap)
    return {k: torch.tensor(v) for k, v in batch.items()}


model = LlamaForCausalLM(LlamaConfig(
    vocab_size=len(CH), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
    max_position_embeddings=32, tie_word_embeddings=True, pad_token_id=PAD, bos_token_id=None, eos_token_id=enc[";"],
    initializer_range=0.05))
args = TrainingArguments("clock", num_train_epochs=9, per_device_train_batch_size=32, learning_rate=3e-3,
                         lr_scheduler_type="cosine", warmup_ratio=0.05, weight_decay=0.01, adam_beta2=0.98,
                         logging_steps=54, save_strategy="no", report_to="none", seed=19)
trainer = Trainer(model=model, args=args, train_dataset=train_rows, data_collator=collate)
trainer.train()

model.eval()
right = 0
for a, b in pairs:
    p = torch.tensor([[enc[c] for c in f"{a}+{b}="]])
    with torch.no_grad():
        out = model.generate(p, attention_mask=torch.ones_like(p), max_new_tokens=3, do_sample=False)
    text = "".join(CH[i] for i in out[0, p.size(1):].tolist())
    right += text.split(";")[0] == str((a + b) % HOURS)
print(f"table accuracy {right / len(pairs):.3f}")
