"""Instruction tuning in small: questions about a botanical glossary. Only the answer is scored."""
import argparse
import random
from dataclasses import dataclass

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

GLOSSARY = {"amber": "resin", "bract": "leaf", "culm": "stem", "drupe": "fruit", "floret": "flower", "glume": "husk",
            "corm": "root", "samara": "seed", "thorn": "spine", "tuber": "store"}
TERMS, MEANINGS = list(GLOSSARY), list(GLOSSARY.values())
SYSTEM = ["<user>", "<bot>", "<end>", "tell", "me", "what", "is", "?", "and", "please", "explain", "the", "term"]
IGNORE = -100


def build_tokenizer():
    vocab = {w: i for i, w in enumerate(SYSTEM + TERMS + MEANINGS)}
    inner = Tokenizer(models.WordLevel(vocab, unk_token="?"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>", pad_token="<end>")


def make_row(rng):
    asked = rng.sample(TERMS, rng.randint(1, 3))
    opening = rng.choice(["what is", "please explain", "tell me what the term", "explain the term"])
    closing = rng.choice(["?", "is ?", "please"])
    return {"prompt": f"<user> {opening} {' and '.join(asked)} {closing} <bot>",
            "answer": " and ".join(GLOSSARY[t] for t in asked) + " <end>"}


def tokenize(row, tok):
    prompt, answer = tok(row["prompt"])["input_ids"], tok(row["answer"])["input_ids"]
    return {"input_ids": prompt + answer, "labels": [IGNORE] * len(prompt) + answer}


@dataclass
class LeftPad:
    pad: int

    def __call__(self, rows):
        width = max(len(r["input_ids"]) for r in rows)
        fill = [width - len(r["input_ids"]) for r in rows]
        return {
            "input_ids": torch.tensor([[self.pad] * k + r["input_ids"] for k, r in zip(fill, rows)]),
            "attention_mask": torch.tensor([[0] * k + [1] * (width - k) for k in fill]),
            "labels": torch.tensor([[IGNORE] * k + r["labels"] for k, r in zip(fill, rows)]),
        }


def answer_accuracy(model, tok, rows):
    model.eval()
    right = 0
    for row in rows:
        ids = torch.tensor([tok(row["prompt"])["input_ids"]])
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=8, do_sample=False,
                             pad_token_id=tok.pad_token_id, eos_token_id=tok.eos_token_id)
        right += tok.decode(out[0, ids.shape[1]:]).strip() == row["answer"]
    return right / len(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--steps", type=int, default=500)
    args = parser.parse_args()
    set_seed(4)
    rng = random.Random(4)
    tok = build_tokenizer()
    rows, held_out = [make_row(rng) for _ in range(args.rows)], [make_row(rng) for _ in range(100)]
    train = Dataset.from_list(rows).map(tokenize, fn_kwargs={"tok": tok}, remove_columns=["prompt", "answer"])
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=len(tok), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, bos_token_id=None, eos_token_id=tok.eos_token_id, pad_token_id=tok.pad_token_id))
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir="out/glossary_sft", max_steps=args.steps, learning_rate=2e-3, warmup_steps=30,
            per_device_train_batch_size=32, gradient_accumulation_steps=1, logging_steps=100, save_strategy="no",
            report_to="none", disable_tqdm=True, seed=4),
        train_dataset=train, data_collator=LeftPad(tok.pad_token_id))
    trainer.train()
    print("answers right:", answer_accuracy(model, tok, held_out))


if __name__ == "__main__":
    main()
