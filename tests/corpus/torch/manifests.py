"""Domain-adaptive masked language model on freight manifests.

    python manifests.py --epochs 20
"""
import argparse
import logging
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (DataCollatorForLanguageModeling, PreTrainedTokenizerFast, RobertaConfig,
                          RobertaForMaskedLM, Trainer, TrainingArguments, set_seed)

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("manifests")

CARGO = {
    "diesel": ("class3", "deck", "tanks"),
    "paint": ("class3", "deck", "drums"),
    "fireworks": ("class1", "deck", "crates"),
    "ammonia": ("class2", "deck", "cylinders"),
    "coffee": ("none", "hold2", "sacks"),
    "rice": ("none", "hold2", "sacks"),
    "sugar": ("none", "hold2", "sacks"),
    "bananas": ("none", "reefer", "cartons"),
    "salmon": ("none", "reefer", "cartons"),
    "vaccines": ("class6", "reefer", "cylinders"),
    "tractors": ("none", "hold1", "pallets"),
    "pianos": ("none", "hold1", "crates"),
}
PORTS = {"rotterdam": "nl", "antwerp": "be", "bilbao": "es", "valencia": "es", "gdansk": "pl", "piraeus": "gr",
         "marseille": "fr", "trieste": "it"}


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--lines", type=int, default=3000)
    p.add_argument("--block-size", type=int, default=64)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--epochs", type=float, default=15)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--mlm-prob", type=float, default=0.2)
    p.add_argument("--seed", type=int, default=13)
    return p.parse_args()


def make_lines(n, rng):
    lines = []
    for _ in range(n):
        cargo = rng.choice(list(CARGO))
        hazard, stow, pack = CARGO[cargo]
        port = rng.choice(list(PORTS))
        count = rng.choice(["4", "8", "12", "20", "40"])
        lines.append(f"{count} {pack} of {cargo} hazard {hazard} stow {stow} discharge {port} {PORTS[port]} .")
    return lines


def build_tokenizer(lines):
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = sorted({w for line in lines for w in line.split()})
    vocab = {w: i for i, w in enumerate(specials + words)}
    raw = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.post_processor = processors.RobertaProcessing(("</s>", vocab["</s>"]), ("<s>", vocab["<s>"]))
    return PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", eos_token="</s>", cls_token="<s>",
                                   sep_token="</s>", unk_token="<unk>", pad_token="<pad>", mask_token="<mask>")


def grouped(lines, tokenizer, block_size):
    def encode(batch):
        return tokenizer(batch["text"], return_token_type_ids=False)

    def group(batch):
        joined = [t for ids in batch["input_ids"] for t in ids]
        total = len(joined) // block_size * block_size
        blocks = [joined[i:i + block_size] for i in range(0, total, block_size)]
        return {"input_ids": blocks, "attention_mask": [[1] * block_size for _ in blocks]}

    ds = Dataset.from_dict({"text": lines})
    ds = ds.map(encode, batched=True, remove_columns=["text"])
    return ds.map(group, batched=True, batch_size=len(ds))


def build_model(args, tokenizer):
    config = RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=args.hidden,
        num_hidden_layers=args.layers,
        num_attention_heads=4,
        intermediate_size=2 * args.hidden,
        max_position_embeddings=args.block_size,
        type_vocab_size=1,
        initializer_range=0.08,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    return RobertaForMaskedLM(config)


def masked_accuracy(p):
    preds, labels = p.predictions, p.label_ids
    kept = labels != -100
    return {"masked_accuracy": float((preds[kept] == labels[kept]).mean())}


def main():
    args = parse_args()
    set_seed(args.seed)
    rng = random.Random(args.seed)
    lines = make_lines(args.lines, rng)
    cut = int(0.9 * len(lines))
    tokenizer = build_tokenizer(lines)
    train_ds = grouped(lines[:cut], tokenizer, args.block_size)
    valid_ds = grouped(lines[cut:], tokenizer, args.block_size)
    log.info("%d train blocks, %d validation blocks, vocabulary %d", len(train_ds), len(valid_ds), len(tokenizer))

    model = build_model(args, tokenizer)
    log.info("%.2fM parameters", model.num_parameters() / 1e6)
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir="out/manifests", num_train_epochs=args.epochs, learning_rate=args.lr, warmup_ratio=0.1,
            per_device_train_batch_size=16, per_device_eval_batch_size=32, eval_strategy="epoch",
            save_strategy="no", logging_steps=20, report_to="none", seed=args.seed, use_cpu=True,
        ),
        train_dataset=train_ds,
        eval_dataset=valid_ds,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm_probability=args.mlm_prob),
        compute_metrics=masked_accuracy,
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
    )
    trainer.train()
    metrics = trainer.evaluate()
    log.info("validation loss %.3f perplexity %.2f masked accuracy %.3f", metrics["eval_loss"],
             np.exp(metrics["eval_loss"]), metrics["eval_masked_accuracy"])


if __name__ == "__main__":
    main()
