"""Teach a tiny GPT-2 to read numbers aloud:  4 7 2 = four hundred seventy two"""
import os

os.environ.setdefault("USE_TF", "0")

import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import Dataset
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen").split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(n):
    if n >= 1000:
        rest = n % 1000
        return [ONES[n // 1000], "thousand"] + (spell(rest) if rest else [])
    if n >= 100:
        rest = n % 100
        return [ONES[n // 100], "hundred"] + (spell(rest) if rest else [])
    if n >= 20:
        return [TENS[n // 10]] + ([ONES[n % 10]] if n % 10 else [])
    return [ONES[n]]


def build_tokenizer():
    words = ["<bos>", "<eos>", "<unk>", "="] + list("0123456789") + ONES + TENS[2:] + ["hundred", "thousand"]
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<bos>", eos_token="<eos>",
                                        unk_token="<unk>", padding_side="right")
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    return tokenizer


def prompt_of(n):
    return "<bos> " + " ".join(str(n)) + " ="


class NumberDataset(Dataset):
    def __init__(self, numbers, tokenizer):
        self.rows = []
        for n in numbers:
            text = f"{prompt_of(n)} {' '.join(spell(n))} <eos>"
            self.rows.append({"input_ids": tokenizer(text, add_special_tokens=False)["input_ids"]})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


@torch.no_grad()
def exact_match(model, tokenizer, numbers, show=4):
    """Greedy decoding from the prompt; prompts of equal length are decoded together."""
    model.eval()
    by_len = {}
    for n in numbers:
        by_len.setdefault(len(str(n)), []).append(n)
    hits, shown = 0, 0
    for group in by_len.values():
        enc = tokenizer([prompt_of(n) for n in group], add_special_tokens=False, return_tensors="pt",
                        return_token_type_ids=False)
        out = model.generate(**enc, max_new_tokens=12, do_sample=False, eos_token_id=tokenizer.eos_token_id,
                             pad_token_id=tokenizer.pad_token_id)
        answers = tokenizer.batch_decode(out[:, enc["input_ids"].shape[1]:], skip_special_tokens=True)
        for n, answer in zip(group, answers):
            hits += answer.split() == spell(n)
            if shown < show:
                print(f"   {n} -> {answer}")
                shown += 1
    return hits / len(numbers)


def main():
    set_seed(3)
    tokenizer = build_tokenizer()
    pool = list(range(1, 4000))
    random.shuffle(pool)
    held_out, train_numbers = pool[:200], pool[200:3400]

    config = GPT2Config(vocab_size=len(tokenizer), n_positions=32, n_embd=48, n_layer=2, n_head=4,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id)
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(output_dir="out/number_words", num_train_epochs=6, per_device_train_batch_size=64,
                             per_device_eval_batch_size=200, learning_rate=4e-3, lr_scheduler_type="cosine",
                             warmup_ratio=0.05, weight_decay=0.01, logging_steps=100, eval_strategy="epoch",
                             save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True, seed=3)
    trainer = Trainer(model=model, args=args,
                      train_dataset=NumberDataset(train_numbers, tokenizer),
                      eval_dataset=NumberDataset(held_out, tokenizer),
                      data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False))
    print(f"exact match before training {exact_match(model, tokenizer, held_out, show=0):.3f}")
    trainer.train()
    print(f"exact match on held-out numbers {exact_match(trainer.model, tokenizer, held_out):.3f}")


if __name__ == "__main__":
    main()
