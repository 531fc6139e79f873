"""A tiny GPT-2 on generated lullabies: word-level tokenizer, blocks of 24 words, Trainer."""
import math
import os
import random

os.environ["USE_TF"] = "0"

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    default_data_collator,
    set_seed,
)

BLOCK = 24
WHO = ["moon", "lamb", "owl", "mouse", "star", "fox", "river", "wind"]
ACT = {"moon": "shines", "lamb": "sleeps", "owl": "watches", "mouse": "hides",
       "star": "winks", "fox": "listens", "river": "murmurs", "wind": "sings"}
PLACE = {"shines": "sky", "sleeps": "barn", "watches": "oak", "hides": "cellar",
         "winks": "dark", "listens": "fern", "murmurs": "valley", "sings": "chimney"}


def verse(rng):
    a, b = rng.sample(WHO, 2)
    return (f"hush says the {a} the {a} {ACT[a]} in the {PLACE[ACT[a]]} "
            f"and the {b} {ACT[b]} in the {PLACE[ACT[b]]} so the {b} and the {a} say goodnight <end>")


def build_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["<unk>", "<pad>"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="<unk>", pad_token="<pad>", eos_token="<end>")


def pack(texts, tokenizer):
    """Concatenate all verses and cut the stream into blocks."""
    stream = [i for ids in tokenizer(texts)["input_ids"] for i in ids]
    rows = {"input_ids": [], "labels": []}
    for start in range(0, len(stream) - BLOCK - 1, BLOCK):
        rows["input_ids"].append(stream[start:start + BLOCK])
        rows["labels"].append(stream[start + 1:start + BLOCK + 1])
    return Dataset.from_dict(rows)


def sing(model, tokenizer, prompt, n=18):
    model.eval()
    ids = tokenizer(prompt, return_tensors="pt")["input_ids"]
    out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=n,
                         do_sample=False, pad_token_id=tokenizer.pad_token_id)
    return tokenizer.decode(out[0])


def main():
    set_seed(3)
    rng = random.Random(3)
    train_texts = [verse(rng) for _ in range(900)]
    valid_texts = [verse(rng) for _ in range(100)]
    tokenizer = build_tokenizer(train_texts)
    train, valid = pack(train_texts, tokenizer), pack(valid_texts, tokenizer)

    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(tokenizer), n_positions=48, n_embd=64, n_layer=2, n_head=4,
        bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    ))
    args = TrainingArguments(
        output_dir="/tmp/lullabies", num_train_epochs=5, per_device_train_batch_size=32,
        learning_rate=4e-3, lr_scheduler_type="cosine", warmup_ratio=0.1, logging_steps=40,
        save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True,
    )
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid,
                      data_collator=default_data_collator)
    trainer.train()
    loss = trainer.evaluate()["eval_loss"]
    print(f"validation loss {loss:.3f}  perplexity {math.exp(loss):.2f}")

    right = 0
    for name in WHO:
        text = sing(model, tokenizer, f"hush says the {name} the {name}", n=4)
        print("  ", text)
        right += f"{name} {ACT[name]} in the {PLACE[ACT[name]]}" in text
    print(f"verses continued rightly: {right}/{len(WHO)}")


if __name__ == "__main__":
    main()
