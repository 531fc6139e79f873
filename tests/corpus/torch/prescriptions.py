"""Spell out prescription shorthand: '2 tab po bid x 7 d' -> 'take two tablets by mouth twice a day for seven days'."""
import logging
import random
from dataclasses import dataclass

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Seq2SeqTrainer,
                          Seq2SeqTrainingArguments, T5Config, T5ForConditionalGeneration,
                          get_linear_schedule_with_warmup, set_seed)

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("prescriptions")

NUMBERS = {"1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "7": "seven", "10": "ten", "14": "fourteen"}
FORMS = {"tab": ("take", "tablets"), "cap": ("take", "capsules"), "gtt": ("instil", "drops"),
         "puff": ("inhale", "puffs"), "supp": ("insert", "suppositories"), "ml": ("swallow", "millilitres")}
ROUTES = {"tab": ["po", "sl"], "cap": ["po"], "gtt": ["od", "os", "ou"], "puff": ["inh"], "supp": ["pr"], "ml": ["po"]}
WHERE = {"po": "by mouth", "sl": "under the tongue", "od": "in the right eye", "os": "in the left eye",
         "ou": "in both eyes", "inh": "through the mouthpiece", "pr": "rectally"}
WHEN = {"qd": "once a day", "bid": "twice a day", "tid": "three times a day", "qhs": "at bedtime",
        "q4h": "every four hours", "prn": "when needed", "ac": "before meals", "pc": "after meals"}


@dataclass
class Config:
    n_train: int = 1600
    n_valid: int = 200
    d_model: int = 64
    layers: int = 2
    heads: int = 4
    batch_size: int = 32
    epochs: int = 12
    lr: float = 3e-3
    warmup: int = 20
    seed: int = 5


def prescription(rng):
    form = rng.choice(list(FORMS))
    route, when = rng.choice(ROUTES[form]), rng.choice(list(WHEN))
    n, days = rng.choice(list(NUMBERS)[:5]), rng.choice(list(NUMBERS)[2:])
    verb, noun = FORMS[form]
    short = f"{n} {form} {route} {when} x {days} d"
    full = f"{verb} {NUMBERS[n]} {noun} {WHERE[route]} {WHEN[when]} for {NUMBERS[days]} days"
    return {"short": short, "full": full}


def build_tokenizer(rows):
    words = sorted({w for r in rows for w in (r["short"] + " " + r["full"]).split()})
    vocab = {w: i for i, w in enumerate(["<pad>", "</s>", "<unk>"] + words)}
    core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
                                   model_input_names=["input_ids", "attention_mask"])


def encode(rows, tokenizer):
    def fn(batch):
        enc = tokenizer(batch["short"])
        enc["labels"] = tokenizer(text_target=batch["full"])["input_ids"]
        return enc
    return Dataset.from_list(rows).map(fn, batched=True, remove_columns=["short", "full"])


def build_model(cfg, tokenizer):
    return T5ForConditionalGeneration(T5Config(
        vocab_size=len(tokenizer), d_model=cfg.d_model, d_kv=cfg.d_model // cfg.heads, d_ff=2 * cfg.d_model,
        num_layers=cfg.layers, num_decoder_layers=cfg.layers, num_heads=cfg.heads, dropout_rate=0.05,
        pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id))


def make_optimizer(model, cfg, n_rows):
    decay = [p for p in model.parameters() if p.ndim > 1]
    rest = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}],
                                  lr=cfg.lr)
    steps_per_epoch = -(-n_rows // cfg.batch_size)
    scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=cfg.warmup,
                                                num_training_steps=steps_per_epoch)
    return optimizer, scheduler


def make_metrics(tokenizer):
    def compute(p):
        preds = np.where(p.predictions < 0, tokenizer.pad_token_id, p.predictions)
        labels = np.where(p.label_ids < 0, tokenizer.pad_token_id, p.label_ids)
        guesses = tokenizer.batch_decode(preds, skip_special_tokens=True)
        truths = tokenizer.batch_decode(labels, skip_special_tokens=True)
        for g, t in list(zip(guesses, truths))[:2]:
            log.info("   %s  |  %s", t, g)
        return {"exact_match": float(np.mean([g == t for g, t in zip(guesses, truths)]))}
    return compute


def main(cfg):
    set_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    rows = [prescription(rng) for _ in range(cfg.n_train + cfg.n_valid)]
    tokenizer = build_tokenizer(rows)
    train_ds, valid_ds = encode(rows[:cfg.n_train], tokenizer), encode(rows[cfg.n_train:], tokenizer)
    model = build_model(cfg, tokenizer)
    log.info("%d parameters, vocabulary of %d", model.num_parameters(), len(tokenizer))

    trainer = Seq2SeqTrainer(
        model=model,
        args=Seq2SeqTrainingArguments(
            "out/prescriptions", num_train_epochs=cfg.epochs, per_device_train_batch_size=cfg.batch_size,
            per_device_eval_batch_size=100, predict_with_generate=True, generation_max_length=20,
            logging_strategy="epoch", save_strategy="no", report_to="none", seed=cfg.seed, use_cpu=True),
        train_dataset=train_ds, eval_dataset=valid_ds,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        compute_metrics=make_metrics(tokenizer),
        optimizers=make_optimizer(model, cfg, len(train_ds)),
    )
    trainer.train()
    metrics = trainer.evaluate()
    log.info("validation loss %.3f, exact match %.3f", metrics["eval_loss"], metrics["eval_exact_match"])


if __name__ == "__main__":
    main(Config())
