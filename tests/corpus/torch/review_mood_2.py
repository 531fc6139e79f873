"""Is a review mostly positive? Distil-sized BERT, texts of very different lengths."""
import os
os.environ["USE_TF"] = "0"
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (BertConfig, BertForSequenceClassification, EarlyStoppingCallback,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

GOOD = "lovely great superb tasty friendly quick clean cosy fresh charming".split()
BAD = "awful stale rude slow dirty noisy bland broken cold greasy".split()
REST = "the food was and staff room we our a table with dinner of place very quite there it night in".split()
MAX_LEN = 128


def review(rng):
    n = rng.choice([1, 1, 2, 3, 3, 5, 9])
    label = rng.randint(0, 1)
    major, minor = (GOOD, BAD) if label else (BAD, GOOD)
    words = [rng.choice(major) for _ in range(n)] + [rng.choice(minor) for _ in range(n // 2)]
    words += [rng.choice(REST) for _ in range(n * 3)]
    rng.shuffle(words)
    return " ".join(words), label


def corpus(n, seed):
    rng = random.Random(seed)
    texts, labels = zip(*(review(rng) for _ in range(n)))
    return Dataset.from_dict({"text": list(texts), "labels": list(labels)})


def make_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]")


def encode(ds, tokenizer):
    ds = ds.map(lambda r: tokenizer(r["text"], padding="max_length", truncation=True, max_length=MAX_LEN),
                batched=True)
    ds.set_format("torch", columns=["input_ids", "labels"])
    return ds


def compute_metrics(pred):
    return {"accuracy": float((np.argmax(pred.predictions, -1) == pred.label_ids).mean())}


def main():
    set_seed(2)
    train, valid, test = corpus(480, 0), corpus(120, 1), corpus(300, 2)
    tokenizer = make_tokenizer(train["text"])
    train, valid, test = (encode(d, tokenizer) for d in (train, valid, test))
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=MAX_LEN, num_labels=2,
        pad_token_id=tokenizer.pad_token_id,
    )
    args = TrainingArguments(
        output_dir="out", num_train_epochs=5, per_device_train_batch_size=32,
        per_device_eval_batch_size=64, learning_rate=1.5e-3, lr_scheduler_type="cosine", warmup_ratio=0.1,
        eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
        metric_for_best_model="eval_accuracy", logging_strategy="epoch", report_to=[], disable_tqdm=True,
    )
    trainer = Trainer(
        model=BertForSequenceClassification(config), args=args, train_dataset=train, eval_dataset=valid,
        compute_metrics=compute_metrics, callbacks=[EarlyStoppingCallback(early_stopping_patience=3)],
    )
    trainer.train()
    result = trainer.predict(test).metrics
    print(f"test loss {result['test_loss']:.3f}  test accuracy {result['test_accuracy']:.3f}")


if __name__ == "__main__":
    main()
