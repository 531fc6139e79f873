"""Pretrain a small BERT on a toy grammar and probe it with cloze questions."""
import random

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForMaskedLM, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

set_seed(11)
ANIMALS = {"fish": ("swims", "river"), "eagle": ("soars", "sky"), "mole": ("digs", "soil"),
           "goat": ("climbs", "cliff"), "frog": ("jumps", "pond"), "camel": ("walks", "desert")}
SIZES = ["small", "old", "young", "grey", "hungry", "quiet"]
TIMES = ["today", "often", "again", "now", "alone"]


def sentence(rng):
    animal = rng.choice(list(ANIMALS))
    verb, place = ANIMALS[animal]
    words = ["the", rng.choice(SIZES), animal, verb, "in", "the", place]
    if rng.random() < 0.5:
        words.append(rng.choice(TIMES))
    return " ".join(words), verb


def build_tokenizer(lines):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(lines, trainers.WordLevelTrainer(
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")


class MaskingCollator:
    def __init__(self, tok, rate=0.2):
        self.tok, self.rate = tok, rate

    def __call__(self, rows):
        batch = self.tok.pad([{"input_ids": r["input_ids"]} for r in rows], return_tensors="pt")
        original = batch["input_ids"]
        pick = (torch.rand(original.shape) < self.rate) & batch["attention_mask"].bool()
        batch["input_ids"][pick] = self.tok.mask_token_id
        batch["labels"] = torch.where(pick, original, torch.full_like(original, -100))
        return dict(batch)


def cloze(model, tok, pairs):
    model.eval()
    hits, guesses = 0, []
    for text, verb in pairs:
        enc = tok(text.replace(verb, tok.mask_token), return_tensors="pt")
        enc.pop("token_type_ids", None)
        with torch.no_grad():
            logits = model(**enc).logits[0]
        where = (enc["input_ids"][0] == tok.mask_token_id).nonzero()[0, 0]
        guess = tok.convert_ids_to_tokens(int(logits[where].argmax()))
        guesses.append(guess)
        hits += guess == verb
    return hits / len(pairs), guesses


def main():
    rng = random.Random(4)
    train = [sentence(rng) for _ in range(2000)]
    held = [sentence(rng) for _ in range(150)]
    tok = build_tokenizer([t for t, _ in train])

    def encode(batch):
        return {"input_ids": tok(batch["text"])["input_ids"]}

    ds = Dataset.from_dict({"text": [t for t, _ in train]}).map(encode, batched=True, remove_columns=["text"])
    dev = Dataset.from_dict({"text": [t for t, _ in held]}).map(encode, batched=True, remove_columns=["text"])
    cfg = BertConfig(vocab_size=len(tok), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                     intermediate_size=128, max_position_embeddings=16, pad_token_id=tok.pad_token_id)
    model = BertForMaskedLM(cfg)
    args = TrainingArguments("lantern_out", num_train_epochs=10, per_device_train_batch_size=32,
                             learning_rate=2e-3, warmup_ratio=0.1, weight_decay=0.01, logging_steps=60,
                             eval_strategy="epoch", report_to=[], save_strategy="no", disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=ds, eval_dataset=dev,
                      data_collator=MaskingCollator(tok))
    trainer.train()
    loss = trainer.evaluate()["eval_loss"]
    print(f"eval loss {loss:.4f}  perplexity {np.exp(loss):.3f}")
    acc, guesses = cloze(model, tok, held)
    print(f"cloze accuracy on verbs: {acc:.3f}")
    for (text, verb), g in list(zip(held, guesses))[:5]:
        print(f"  {text!r}: wanted {verb}, got {g}")


if __name__ == "__main__":
    main()
