import argparse
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Seq2SeqTrainer, Seq2SeqTrainingArguments,
                          T5Config, T5ForConditionalGeneration, set_seed)

NOUNS = {"cat": "miru", "dog": "kabo", "bird": "tivi", "fish": "sulo", "horse": "dranu", "goat": "peki"}
ADJS = {"red": "roja", "old": "veta", "small": "piti", "wild": "sova"}
VERBS = {"sees": "widat", "hears": "odat", "follows": "sekat", "likes": "amat"}


def make_pair(rng):
    a, b, n, m, v = (rng.choice(list(d)) for d in (ADJS, ADJS, NOUNS, NOUNS, VERBS))
    english = f"the {a} {n} {v} the {b} {m}"
    target = f"{NOUNS[n]} {ADJS[a]} {NOUNS[m]} {ADJS[b]} {VERBS[v]}"
    return {"en": english, "xx": target}


def build_tokenizer():
    words = ["<pad>", "</s>", "<unk>", "the"]
    for d in (NOUNS, ADJS, VERBS):
        words += list(d) + list(d.values())
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--pairs", type=int, default=1500)
    cli = parser.parse_args()
    set_seed(5)
    rng = random.Random(5)
    tokenizer = build_tokenizer()

    def preprocess(batch):
        return tokenizer(batch["en"], text_target=batch["xx"])

    data = Dataset.from_list([make_pair(rng) for _ in range(cli.pairs)])
    data = data.map(preprocess, batched=True, remove_columns=["en", "xx"]).train_test_split(100, seed=1)

    model = T5ForConditionalGeneration(T5Config(
        vocab_size=len(tokenizer), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.05,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1))

    def compute_metrics(eval_preds):
        preds, labels = eval_preds
        labels = np.where(labels != -100, labels, tokenizer.pad_token_id)
        said = tokenizer.batch_decode(preds, skip_special_tokens=True)
        wanted = tokenizer.batch_decode(labels, skip_special_tokens=True)
        return {"exact_match": float(np.mean([s.strip() == w.strip() for s, w in zip(said, wanted)]))}

    args = Seq2SeqTrainingArguments(
        output_dir="phrasebook_out",
        learning_rate=cli.lr,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=50,
        num_train_epochs=cli.epochs,
        generation_max_length=12,
        eval_strategy="no",
        save_strategy="no",
        logging_steps=25,
        report_to="none",
    )
    trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                             data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
                             processing_class=tokenizer, compute_metrics=compute_metrics)
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
