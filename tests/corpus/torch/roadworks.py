"""Rewrite free roadworks notices into the short form used on motorway signs."""
from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (BartConfig, BartForConditionalGeneration, EarlyStoppingCallback, PreTrainedTokenizerFast,
                          Seq2SeqTrainer, Seq2SeqTrainingArguments, set_seed)

ROADS = [f"a{n}" for n in (3, 5, 7, 9, 14, 27, 44, 61, 81, 93)]
DAYS = {"monday": "mon", "tuesday": "tue", "wednesday": "wed", "thursday": "thu", "friday": "fri", "saturday": "sat"}
CAUSES = {"resurfacing": "surface", "a burst pipe": "water", "bridge repairs": "bridge", "tree felling": "trees",
          "cable laying": "cable"}
PARTS = {"the left lane": "L", "the right lane": "R", "both lanes": "LR", "the hard shoulder": "HS"}


def make_pair(rng: random.Random) -> dict[str, str]:
    road, day = rng.choice(ROADS), rng.choice(list(DAYS))
    cause, part = rng.choice(list(CAUSES)), rng.choice(list(PARTS))
    source = rng.choice([
        f"because of {cause} {part} of the {road} will be closed until {day}",
        f"{part} of the {road} is shut for {cause} , reopening on {day}",
        f"drivers on the {road} please note : {cause} , {part} closed , expected to end {day}",
    ])
    return {"source": source, "target": f"{road} {PARTS[part]} {CAUSES[cause]} {DAYS[day]}"}


def train_tokenizer(rows: list[dict[str, str]]) -> PreTrainedTokenizerFast:
    tok = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tok.train_from_iterator([r[k] for r in rows for k in ("source", "target")],
                            trainers.WordLevelTrainer(special_tokens=special))
    tok.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return PreTrainedTokenizerFast(tokenizer_object=tok, bos_token="<s>", pad_token="<pad>", eos_token="</s>",
                                   unk_token="<unk>")


@dataclass
class NoticeCollator:
    tokenizer: PreTrainedTokenizerFast
    start_id: int

    def __call__(self, rows: list[dict]) -> dict[str, torch.Tensor]:
        batch = self.tokenizer.pad([{"input_ids": r["input_ids"], "attention_mask": r["attention_mask"]} for r in rows],
                                   return_tensors="pt")
        targets = self.tokenizer.pad([{"input_ids": r["labels"]} for r in rows], return_tensors="pt")
        target_ids = targets["input_ids"]
        batch["decoder_input_ids"] = target_ids
        batch["labels"] = target_ids.masked_fill(targets["attention_mask"] == 0, -100)
        return dict(batch)


def build_model(tokenizer: PreTrainedTokenizerFast) -> BartForConditionalGeneration:
    config = BartConfig(
        vocab_size=len(tokenizer), d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, max_position_embeddings=48,
        dropout=0.0, attention_dropout=0.0, pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2,
        forced_eos_token_id=None,
    )
    return BartForConditionalGeneration(config)


def main() -> None:
    set_seed(5)
    rng = random.Random(5)
    rows = [make_pair(rng) for _ in range(2300)]
    tokenizer = train_tokenizer(rows)

    def encode(batch: dict) -> dict:
        enc = tokenizer(batch["source"], return_token_type_ids=False)
        enc["labels"] = tokenizer(batch["target"])["input_ids"]
        return enc

    data = Dataset.from_list(rows).map(encode, batched=True, remove_columns=["source", "target"])
    data = data.train_test_split(test_size=300, seed=5)
    model = build_model(tokenizer)

    def compute_metrics(eval_pred) -> dict[str, float]:
        preds, labels = eval_pred
        preds = np.where(preds < 0, tokenizer.pad_token_id, preds)
        labels = np.where(labels < 0, tokenizer.pad_token_id, labels)
        hyp = tokenizer.batch_decode(preds, skip_special_tokens=True)
        ref = tokenizer.batch_decode(labels, skip_special_tokens=True)
        return {"exact": float(np.mean([h == r for h, r in zip(hyp, ref)]))}

    args = Seq2SeqTrainingArguments(
        output_dir="out", num_train_epochs=10, per_device_train_batch_size=50,
        per_device_eval_batch_size=100, learning_rate=2e-3, warmup_steps=30, max_grad_norm=1.0, logging_steps=40,
        eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
        metric_for_best_model="eval_loss", greater_is_better=False, predict_with_generate=True,
        generation_max_length=10, report_to="none", disable_tqdm=True, seed=5,
    )
    trainer = Seq2SeqTrainer(
        model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
        data_collator=NoticeCollator(tokenizer, model.config.decoder_start_token_id),
        processing_class=tokenizer, compute_metrics=compute_metrics,
        callbacks=[EarlyStoppingCallback(early_stopping_patience=3)],
    )
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
