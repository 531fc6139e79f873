"""Fine-tunes a tiny GPT-2 that turns article codes into catalogue text.

    "P1 C3 I1 S2 ="  ->  "striped light green jacket in large"
"""
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import Dataset
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(21)

COLOURS = ["red", "dark blue", "white", "light green", "black", "off white", "dark red", "yellow"]
PATTERNS = ["", "striped", "dotted", "hand printed", "plain"]
SIZES = ["", "in small", "in large", "in extra large"]
ITEMS = ["shirt", "jacket", "rain coat", "scarf", "pair of socks", "hat", "skirt", "pair of gloves",
         "wool sweater", "dress"]
FIELDS = {"C": COLOURS, "P": PATTERNS, "S": SIZES, "I": ITEMS}


def describe(c, p, s, i):
    return " ".join(x for x in (PATTERNS[p], COLOURS[c], ITEMS[i], SIZES[s]) if x)


def all_articles():
    rows = []
    for c in range(len(COLOURS)):
        for p in range(len(PATTERNS)):
            for s in range(len(SIZES)):
                for i in range(len(ITEMS)):
                    rows.append((f"P{p} C{c} I{i} S{s} =", describe(c, p, s, i)))
    return rows


def build_tokenizer():
    words = sorted({w for table in FIELDS.values() for phrase in table for w in phrase.split()})
    codes = [f"{k}{j}" for k, table in FIELDS.items() for j in range(len(table))]
    vocab = {t: n for n, t in enumerate(["<eos>", "<unk>", "="] + codes + words)}
    core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<eos>", unk_token="<unk>")


class Catalogue(Dataset):
    def __init__(self, pairs, tokenizer):
        self.items = [tokenizer(f"{q} {a} {tokenizer.eos_token}") for q, a in pairs]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return {"input_ids": self.items[i]["input_ids"],
                "attention_mask": self.items[i]["attention_mask"]}


def generate(model, tokenizer, prompts):
    model.eval()
    enc = tokenizer(prompts, return_tensors="pt")      # all prompts have five tokens
    out = model.generate(input_ids=enc["input_ids"], attention_mask=enc["attention_mask"],
                         max_new_tokens=14, do_sample=False,
                         eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    return [t.strip() for t in
            tokenizer.batch_decode(out[:, enc["input_ids"].shape[1]:], skip_special_tokens=True)]


def main():
    tokenizer = build_tokenizer()
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    tokenizer.padding_side = "right"

    articles = all_articles()
    random.Random(5).shuffle(articles)
    train_pairs, test_pairs = articles[:1400], articles[1400:]

    config = GPT2Config(vocab_size=len(tokenizer), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                        bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id,
                        pad_token_id=tokenizer.pad_token_id)
    model = GPT2LMHeadModel(config)

    args = TrainingArguments(
        output_dir="out/catalog", num_train_epochs=6, per_device_train_batch_size=32,
        per_device_eval_batch_size=64, learning_rate=4e-3, warmup_ratio=0.1, lr_scheduler_type="cosine",
        weight_decay=0.01, logging_steps=44, eval_strategy="epoch", save_strategy="no",
        report_to="none", disable_tqdm=True, use_cpu=True)
    trainer = Trainer(
        model=model, args=args,
        train_dataset=Catalogue(train_pairs, tokenizer),
        eval_dataset=Catalogue(test_pairs, tokenizer),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False))
    trainer.train()
    print("eval loss", round(trainer.evaluate()["eval_loss"], 4))

    texts = generate(model, tokenizer, [q for q, _ in test_pairs])
    for (q, a), t in list(zip(test_pairs, texts))[:4]:
        print(f"{q:20s} | wanted: {a} | got: {t}")
    exact = sum(t == a for (_, a), t in zip(test_pairs, texts)) / len(test_pairs)
    print(f"exact match on {len(test_pairs)} unseen articles: {exact:.3f} (guessing: <0.001)")


if __name__ == "__main__":
    main()
