import random
import tempfile

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    BertConfig,
    BertForTokenClassification,
    DataCollatorForTokenClassification,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

TAGS = ["O", "DRUG", "DOSE", "SYMPTOM"]
DRUGS = [f"{a}{b}" for a in ("lora", "meto", "ami", "keto", "pro") for b in ("pril", "zole", "xin", "dine")]
DOSES = ["5mg", "10mg", "20mg", "daily", "twice"]
SYMPTOMS = ["cough", "fever", "rash", "nausea", "pain", "cold"]
PLAIN = "the patient was given and then reported some but no after before with of had took".split()


def make_note(rng):
    words, tags = [], []
    for _ in range(rng.choice([1, 1, 1, 1, 2, 2, 9])):
        for _ in range(rng.randint(1, 2)):
            words.append(rng.choice(PLAIN)); tags.append(0)
        kind = rng.random()
        if kind < 0.5:
            words.append(rng.choice(DRUGS)); tags.append(1)
            words.append(rng.choice(DOSES)); tags.append(2)
        else:
            sym = rng.choice(SYMPTOMS)
            negated = rng.random() < 0.5
            words += ["no" if negated else "some", sym]
            tags += [0, 0 if negated else 3]
    return {"words": words, "tags": tags}


def build_tokenizer():
    vocab = {"[PAD]": 0, "[UNK]": 1}
    for w in PLAIN + DRUGS + DOSES + SYMPTOMS:
        vocab.setdefault(w, len(vocab))
    tok = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")


def build_split(n, seed, tok):
    rng = random.Random(seed)

    def encode(ex):
        enc = tok(ex["words"], is_split_into_words=True, return_token_type_ids=False)
        return {**enc, "labels": [ex["tags"][i] for i in enc.word_ids()]}

    ds = Dataset.from_list([make_note(rng) for _ in range(n)])
    return ds.map(encode, remove_columns=["words", "tags"])


def compute_metrics(p):
    pred = p.predictions.argmax(-1)
    keep = p.label_ids != -100
    pred, gold = pred[keep], p.label_ids[keep]
    out = {"accuracy": float((pred == gold).mean()), "n_tokens": int(keep.sum())}
    out["always_O"] = float((gold == 0).mean())
    hit = ((pred == gold) & (gold > 0)).sum()
    out["entity_recall"] = float(hit / max((gold > 0).sum(), 1))
    return out


if __name__ == "__main__":
    set_seed(9)
    tokenizer = build_tokenizer()
    train, test = build_split(800, 1, tokenizer), build_split(200, 2, tokenizer)
    model = BertForTokenClassification(
        BertConfig(
            vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=128, max_position_embeddings=64, num_labels=len(TAGS),
        )
    )
    collator = DataCollatorForTokenClassification(
        tokenizer,
        padding="longest",
        label_pad_token_id=0,
    )
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=4, learning_rate=1e-3,
        per_device_train_batch_size=32, per_device_eval_batch_size=64,
        eval_strategy="epoch", save_strategy="no", logging_steps=25,
        report_to="none", use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=train, eval_dataset=test,
        data_collator=collator, compute_metrics=compute_metrics,
    )
    trainer.train()
    res = trainer.evaluate()
    print("tokens in test set", sum(len(r) for r in test["input_ids"]))
    print({k: round(v, 4) for k, v in res.items() if k.startswith("eval_") and "per_second" not in k})
