"""Tiny GPT-2 that spells numbers: "3 0 7 = three hundred seven"."""
import os

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen").split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()


def spell(n):
    out = []
    if n >= 100:
        out += [ONES[n // 100], "hundred"]
        n %= 100
        if n == 0:
            return out
    if n >= 20:
        out.append(TENS[n // 10])
        if n % 10:
            out.append(ONES[n % 10])
    else:
        out.append(ONES[n])
    return out


def build_tokenizer():
    words = ["<unk>", "<eos>", "="] + list("0123456789") + ONES + TENS[2:] + ["hundred"]
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok = PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>", eos_token="<eos>")
    tok.pad_token = tok.eos_token
    tok.padding_side = "right"
    return tok


def prompt(n):
    return " ".join(f"{n:03d}") + " ="


@torch.no_grad()
def score(model, tok, numbers):
    model.eval()
    enc = tok([prompt(n) for n in numbers], return_tensors="pt")
    gen = model.generate(input_ids=enc["input_ids"], attention_mask=enc["attention_mask"], do_sample=False,
                         max_new_tokens=10, eos_token_id=tok.eos_token_id, pad_token_id=tok.pad_token_id)
    answers = tok.batch_decode(gen[:, enc["input_ids"].size(1):], skip_special_tokens=True)
    hits = [a.split() == spell(n) for a, n in zip(answers, numbers)]
    return float(np.mean(hits)), answers


def main():
    set_seed(4)
    tok = build_tokenizer()
    numbers = np.random.default_rng(4).permutation(1000)
    train_n, test_n = numbers[:850].tolist(), numbers[850:].tolist()

    def encode(ns):
        texts = [f"{prompt(n)} {' '.join(spell(n))} {tok.eos_token}" for n in ns]
        return Dataset.from_dict({"text": texts}).map(
            lambda b: tok(b["text"], return_token_type_ids=False), batched=True, remove_columns=["text"])

    train_ds, test_ds = encode(train_n), encode(test_n)
    collator = DataCollatorForLanguageModeling(tok, mlm=False)
    config = GPT2Config(vocab_size=len(tok), n_positions=24, n_embd=64, n_layer=2, n_head=4,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                        bos_token_id=tok.eos_token_id, eos_token_id=tok.eos_token_id)
    model = GPT2LMHeadModel(config)

    args = TrainingArguments(
        output_dir="out/speller",
        num_train_epochs=15,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=150,
        learning_rate=4e-3,
        lr_scheduler_type="cosine",
        warmup_ratio=0.05,
        weight_decay=0.01,
        eval_strategy="epoch",
        logging_steps=100,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds, data_collator=collator)
    trainer.train()

    acc, answers = score(model, tok, test_n)
    for n, a in list(zip(test_n, answers))[:5]:
        print(n, "->", a)
    print(f"eval loss {trainer.evaluate()['eval_loss']:.3f}  held-out numbers spelled exactly {acc:.3f}")


if __name__ == "__main__":
    main()
