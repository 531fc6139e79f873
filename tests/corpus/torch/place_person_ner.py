import random
import tempfile

import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForTokenClassification, DataCollatorForTokenClassification,
                          EarlyStoppingCallback, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

TAGS = ["O", "B-PER", "B-LOC"]
NAMES = ["lincoln", "paris", "austin", "florence", "jackson", "georgia", "sydney", "chelsea", "madison", "victoria"]
PATTERNS = [
    "we travelled to {L} with {P} last summer",
    "{P} was born near {L} and moved away early",
    "yesterday {P} told {P} about the flight",
    "the train from {L} to {L} was delayed for hours because of heavy snow on the line",
    "doctor {P} opened a practice in {L}",
    "nobody expected rain",
    "the mayor of {L} thanked {P} for the donation",
]


def sample_sentences(n):
    rows = {"words": [], "tags": []}
    for _ in range(n):
        words, tags = [], []
        for w in random.choice(PATTERNS).split():
            if w in ("{P}", "{L}"):
                words.append(random.choice(NAMES))
                tags.append(1 if w == "{P}" else 2)
            else:
                words.append(w)
                tags.append(0)
        rows["words"].append(words)
        rows["tags"].append(tags)
    return Dataset.from_dict(rows)


def make_tokenizer(word_lists):
    tok = Tokenizer(models.BPE(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator((" ".join(w) for w in word_lists),
                            trainers.BpeTrainer(vocab_size=120, special_tokens=["[PAD]", "[UNK]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")


def encode(batch, tokenizer):
    enc = tokenizer(batch["words"], is_split_into_words=True, truncation=True, max_length=64)
    enc["labels"] = []
    for i, tags in enumerate(batch["tags"]):
        previous, row = None, []
        for wid in enc.word_ids(i):
            row.append(tags[wid] if wid is not None and wid != previous else -100)
            previous = wid
        enc["labels"].append(row)
    return enc


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    pred = np.argmax(logits, axis=-1)
    y_true, y_pred = labels.reshape(-1), pred.reshape(-1)
    return {"accuracy": accuracy_score(y_true, y_pred),
            "macro_f1": f1_score(y_true, y_pred, average="macro", zero_division=0)}


def main():
    set_seed(17)
    train, valid = sample_sentences(1200), sample_sentences(300)
    tokenizer = make_tokenizer(train["words"])
    columns = ["words", "tags"]
    train = train.map(encode, batched=True, fn_kwargs={"tokenizer": tokenizer}, remove_columns=columns)
    valid = valid.map(encode, batched=True, fn_kwargs={"tokenizer": tokenizer}, remove_columns=columns)
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=128, max_position_embeddings=64, num_labels=len(TAGS),
                        id2label=dict(enumerate(TAGS)), label2id={t: i for i, t in enumerate(TAGS)})
    with tempfile.TemporaryDirectory() as tmp:
        args = TrainingArguments(
            output_dir=tmp, num_train_epochs=4, learning_rate=2e-3, per_device_train_batch_size=32,
            per_device_eval_batch_size=100, eval_strategy="epoch", save_strategy="epoch", save_total_limit=1,
            load_best_model_at_end=True, metric_for_best_model="macro_f1", report_to="none", disable_tqdm=True)
        trainer = Trainer(model=BertForTokenClassification(config), args=args, train_dataset=train,
                          eval_dataset=valid, data_collator=DataCollatorForTokenClassification(tokenizer),
                          compute_metrics=compute_metrics,
                          callbacks=[EarlyStoppingCallback(early_stopping_patience=3)])
        trainer.train()
        result = trainer.evaluate()
    print(f"loss {result['eval_loss']:.4f}  accuracy {result['eval_accuracy']:.3f}  macro F1 {result['eval_macro_f1']:.3f}")


if __name__ == "__main__":
    main()
