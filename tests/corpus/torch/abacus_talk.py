import random
import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(17)
random.seed(17)
TOKENS = ["<pad>", "<eos>"] + list("0123456789+-=?")
STOI = {t: i for i, t in enumerate(TOKENS)}
PAD, EOS = 0, 1


def example():
    a, b = random.randint(0, 7), random.randint(0, 7)
    op = random.choice("+-")
    if op == "-" and a < b:
        a, b = b, a
    hint = "?" * random.randint(0, 4)
    result = a + b if op == "+" else a - b
    return f"{hint}{a}{op}{b}=", f"{result:02d}"


def to_features(prompt, answer):
    p = [STOI[c] for c in prompt]
    r = [STOI[c] for c in answer] + [EOS]
    return {"input_ids": p + r, "labels": [-100] * len(p) + r}


def left_pad(rows):
    width = max(len(r["input_ids"]) for r in rows)
    gap = [width - len(r["input_ids"]) for r in rows]
    mask = torch.tensor([[0] * g + [1] * (width - g) for g in gap])
    return {
        "input_ids": torch.tensor([[PAD] * g + r["input_ids"] for g, r in zip(gap, rows)]),
        "labels": torch.tensor([[-100] * g + r["labels"] for g, r in zip(gap, rows)]),
        "attention_mask": mask,
        "position_ids": (mask.cumsum(-1) - 1).clamp(min=0),
    }


def compute_metrics(p):
    pred, gold = p.predictions[:, :-1], p.label_ids[:, 1:]
    keep = gold != -100
    whole = ((pred == gold) | ~keep).all(1)
    return {"token_accuracy": float((pred == gold)[keep].mean()), "whole_answer": float(whole.mean())}


train = [to_features(*example()) for _ in range(2600)]
valid = [to_features(*example()) for _ in range(200)]
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(TOKENS), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                                   resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                                   bos_token_id=EOS, eos_token_id=EOS, pad_token_id=PAD, use_cache=False))
args = TrainingArguments(
    "abacus_talk_out", num_train_epochs=8, learning_rate=3e-3, warmup_ratio=0.1, lr_scheduler_type="cosine",
    per_device_train_batch_size=16, gradient_accumulation_steps=2, gradient_checkpointing=True,
    gradient_checkpointing_kwargs={"use_reentrant": False}, max_grad_norm=1.0, per_device_eval_batch_size=100,
    eval_strategy="epoch", save_strategy="no", logging_steps=100, remove_unused_columns=False,
    report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid, data_collator=left_pad,
                  compute_metrics=compute_metrics,
                  preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1))
trainer.train()
print(trainer.evaluate())
