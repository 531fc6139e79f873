"""Route short case notes to one of four desks with a small BERT, Hugging Face Trainer."""
import os
import random

os.environ["USE_TF"] = "0"

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

DESKS = {
    "housing": ["landlord", "damp", "eviction", "rent", "boiler", "lease", "neighbour"],
    "benefits": ["claim", "allowance", "assessment", "backdated", "sanction", "award", "letter"],
    "debt": ["bailiff", "arrears", "overdraft", "creditor", "repayment", "letter", "rent"],
    "work": ["rota", "dismissal", "payslip", "overtime", "contract", "manager", "award"],
}
FILLER = ("client came in again about the same matter and would like to know what can be done "
          "before friday because nobody has answered phone calls since last month").split()


def write_note(desk, rng):
    words = rng.choices(FILLER, k=rng.randint(8, 16))
    for term in rng.sample(DESKS[desk], 3):
        words.insert(rng.randrange(len(words)), term)
    return " ".join(words).capitalize() + "."


def make_split(n, rng):
    names = list(DESKS)
    labels = [rng.randrange(len(names)) for _ in range(n)]
    return Dataset.from_dict({"text": [write_note(names[y], rng) for y in labels], "label": labels})


def make_tokenizer(corpus):
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.normalizer = normalizers.Lowercase()
    tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tok.train_from_iterator(
        corpus, trainers.WordPieceTrainer(vocab_size=400, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    )
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", tok.token_to_id("[CLS]")), ("[SEP]", tok.token_to_id("[SEP]"))],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def compute_metrics(pred):
    guess = np.argmax(pred.predictions, axis=-1)
    per_desk = {f"recall_{d}": float((guess == i)[pred.label_ids == i].mean()) for i, d in enumerate(DESKS)}
    return {"accuracy": float((guess == pred.label_ids).mean()), **per_desk}


def main():
    set_seed(17)
    rng = random.Random(17)
    train, valid = make_split(1000, rng), make_split(250, rng)
    tokenizer = make_tokenizer(train["text"])
    encode = lambda rows: tokenizer(rows["text"], truncation=True, max_length=48)
    train = train.map(encode, batched=True, remove_columns=["text"])
    valid = valid.map(encode, batched=True, remove_columns=["text"])

    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=64, num_labels=len(DESKS),
        id2label=dict(enumerate(DESKS)), label2id={d: i for i, d in enumerate(DESKS)},
    )
    model = BertForSequenceClassification(config)
    args = TrainingArguments(
        output_dir="/tmp/casebook",
        num_train_epochs=4,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=64,
        learning_rate=2e-3,
        warmup_steps=10_000,
        weight_decay=0.01,
        logging_steps=50,
        eval_strategy="epoch",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train,
        eval_dataset=valid,
        processing_class=tokenizer,
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=compute_metrics,
    )
    trainer.train()
    final = trainer.evaluate()
    print({k: round(v, 3) for k, v in final.items() if "recall" in k or "accuracy" in k or k == "eval_loss"})


if __name__ == "__main__":
    main()
