"""A decoder learns to add two numbers; only the answer's tokens count in the loss."""
import random
import tempfile

import numpy as np
import torch
from datasets import Dataset
from transformers import (LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback,
                          TrainingArguments, set_seed)

CHARS = "0123456789+=.#"
C2I = {c: i for i, c in enumerate(CHARS)}
END, PAD = C2I["."], C2I["#"]


def write(a, b):
    # the sum is written from its last digit on
    return f"{a:02d}+{b:02d}=", f"{a + b:03d}"[::-1] + "."


def tokenize(batch):
    out = {"input_ids": [], "labels": [], "attention_mask": []}
    for a, b in zip(batch["a"], batch["b"]):
        q, ans = write(a, b)
        ids = [C2I[c] for c in q + ans]
        out["input_ids"].append(ids)
        out["labels"].append([-100] * len(q) + ids[len(q):])
        out["attention_mask"].append([1] * len(ids))
    return out


def answer(model, pairs):
    was = model.training
    model.eval()
    ids = torch.tensor([[C2I[c] for c in write(a, b)[0]] for a, b in pairs])
    out = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=4, do_sample=False)
    model.train(was)
    texts = ["".join(CHARS[i] for i in row[ids.size(1):].tolist()) for row in out]
    return np.array([t == write(a, b)[1] for t, (a, b) in zip(texts, pairs)]), texts


class AskNow(TrainerCallback):
    def __init__(self, pairs):
        self.pairs = pairs

    def on_epoch_end(self, args, state, control, model=None, **kw):
        if round(state.epoch) % 4 == 0:
            print(f"epoch {state.epoch:.0f}: exact {answer(model, self.pairs)[0].mean():.3f}")


def main():
    set_seed(17)
    pairs = [(a, b) for a in range(100) for b in range(100)]
    random.shuffle(pairs)
    test, train = pairs[:400], pairs[400:6400]
    ds = Dataset.from_dict({"a": [a for a, _ in train], "b": [b for _, b in train]})
    ds = ds.map(tokenize, batched=True, remove_columns=["a", "b"])
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(CHARS), hidden_size=64, intermediate_size=160, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=16, tie_word_embeddings=True, attention_dropout=0.0,
        bos_token_id=None, eos_token_id=END, pad_token_id=PAD))
    print(f"{model.num_parameters():,} parameters")
    args = TrainingArguments(
        tempfile.mkdtemp(), num_train_epochs=16, per_device_train_batch_size=128, learning_rate=5e-3,
        adam_beta2=0.98, weight_decay=0.1, warmup_ratio=0.15, lr_scheduler_type="cosine", max_grad_norm=0.5,
        logging_steps=47, report_to=[], save_strategy="no", disable_tqdm=True)
    Trainer(model=model, args=args, train_dataset=ds, callbacks=[AskNow(test[:200])]).train()
    right, texts = answer(model, test)
    for (a, b), t in list(zip(test, texts))[:4]:
        print(f"  {a} + {b} = {t.rstrip('.')[::-1]}")
    print(f"exact match on unseen sums: {right.mean():.3f}")


if __name__ == "__main__":
    main()
