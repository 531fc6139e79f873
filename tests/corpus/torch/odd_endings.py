"""Choose the sentence that continues a small story (four candidates)."""
import random
import tempfile

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForMultipleChoice, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, default_data_collator, set_seed)

N_CHOICES = 4
MAX_LEN = 24
ENDINGS = [f"ending{k}" for k in range(N_CHOICES)]

JOBS = {
    "fisher": ["net", "boat"], "painter": ["brush", "canvas"], "tailor": ["needle", "thread"],
    "barber": ["razor", "comb"], "mason": ["brick", "trowel"], "clerk": ["stamp", "ledger"],
    "chef": ["pan", "ladle"], "judge": ["gavel", "robe"],
}
NAMES = "anna ben carla dmitri elena felix".split()


def make_rows(n, rng):
    rows = []
    for _ in range(n):
        jobs = rng.sample(list(JOBS), N_CHOICES)
        label = rng.randrange(N_CHOICES)
        name = rng.choice(NAMES)
        row = {"context": f"{name} works as a {jobs[label]} in the town", "label": label}
        for column, job in zip(ENDINGS, jobs):
            row[column] = rng.choice(["{} picks up the {}", "soon {} needs a {}"]).format(name, rng.choice(JOBS[job]))
        rows.append(row)
    return rows


def make_tokenizer(rows):
    words = sorted({w for row in rows for key in ["context"] + ENDINGS for w in row[key].split()})
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words)}
    core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]")


def make_preprocess(tokenizer):
    def preprocess(batch):
        first = [text for text in batch["context"] for _ in ENDINGS]
        second = [text for column in ENDINGS for text in batch[column]]
        enc = tokenizer(first, second, truncation=True, max_length=MAX_LEN, padding="max_length")
        return {key: [values[i:i + N_CHOICES] for i in range(0, len(values), N_CHOICES)]
                for key, values in enc.items()}

    return preprocess


def accuracy(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=1) == p.label_ids).mean())}


def main():
    set_seed(11)
    rng = random.Random(11)
    train_rows, test_rows = make_rows(2000, rng), make_rows(300, rng)
    tokenizer = make_tokenizer(train_rows)
    preprocess = make_preprocess(tokenizer)
    drop = ["context"] + ENDINGS
    train = Dataset.from_list(train_rows).map(preprocess, batched=True, remove_columns=drop)
    test = Dataset.from_list(test_rows).map(preprocess, batched=True, remove_columns=drop)

    model = BertForMultipleChoice(BertConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=MAX_LEN, initializer_range=0.1,
        hidden_dropout_prob=0.0, pad_token_id=0))

    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), learning_rate=1e-3, lr_scheduler_type="cosine", warmup_steps=30,
        num_train_epochs=5, per_device_train_batch_size=32, per_device_eval_batch_size=100,
        eval_strategy="epoch", save_strategy="no", logging_steps=25, report_to="none", seed=11)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                      data_collator=default_data_collator, compute_metrics=accuracy)
    trainer.train()
    print("test accuracy", trainer.evaluate()["eval_accuracy"])


if __name__ == "__main__":
    main()
