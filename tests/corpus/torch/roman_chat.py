import random

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(20)
DIGITS = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
TENS = ["", "X", "XX", "XXX", "XL"]
chars = ["<pad>", "<eos>"] + list("0123456789=IVXL")
ids = {c: i for i, c in enumerate(chars)}


def encode(n):
    prompt = [ids[c] for c in f"{n:02d}="]
    answer = [ids[c] for c in TENS[n // 10] + DIGITS[n % 10]] + [ids["<eos>"]]
    return {"prompt": prompt, "answer": answer}


def collate(batch):
    width = max(len(b["prompt"]) + len(b["answer"]) for b in batch)
    input_ids = torch.zeros(len(batch), width, dtype=torch.long)
    mask = torch.zeros_like(input_ids)
    labels = torch.full_like(input_ids, -100)
    for i, b in enumerate(batch):
        p, n = len(b["prompt"]), len(b["prompt"]) + len(b["answer"])
        input_ids[i, :n] = torch.tensor(b["prompt"] + b["answer"])
        mask[i, :n] = 1
        labels[i, p:n] = torch.tensor(b["answer"])
    return {"input_ids": input_ids, "attention_mask": mask, "labels": labels}


numbers = [random.randint(1, 49) for _ in range(1600)]
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(chars), n_positions=16, n_embd=48, n_layer=2, n_head=4,
                                   resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                                   bos_token_id=1, eos_token_id=1, pad_token_id=0))
args = TrainingArguments(output_dir="roman", num_train_epochs=4, per_device_train_batch_size=16,
                         gradient_accumulation_steps=2, learning_rate=3e-3, warmup_steps=20,
                         lr_scheduler_type="cosine", remove_unused_columns=False, logging_steps=40,
                         save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=[encode(n) for n in numbers], data_collator=collate)
trainer.train()

model.eval()
right = 0
for n in range(1, 50):
    e = encode(n)
    out = model.generate(torch.tensor([e["prompt"]]), attention_mask=torch.ones(1, 3, dtype=torch.long),
                         max_new_tokens=10, do_sample=False)[0, 3:].tolist()
    right += out[:len(e["answer"])] == e["answer"]
print("exact matches", right, "of 49")
