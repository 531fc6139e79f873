"""Fine grained tone of hotel reviews, small RoBERTa from scratch."""
import random
import tempfile

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (DataCollatorWithPadding, PreTrainedTokenizerFast, RobertaConfig,
                          RobertaForSequenceClassification, Trainer, TrainingArguments, set_seed)

MAX_LEN = 64
GOOD = "clean friendly quiet lovely spotless helpful cosy delicious generous charming".split()
BAD = "dirty rude noisy broken smelly cold cramped stale overpriced damp".split()
FILL = ("the room staff breakfast bed bathroom lobby pool view lift parking was were and very "
        "we stayed there for two nights with our kids in may near station city street").split()


def write_review(label, rng):
    n = rng.choice([12, 25, 40, 60, 75])
    words = [rng.choice(FILL) for _ in range(n)]
    strong, weak = (GOOD, BAD) if label else (BAD, GOOD)
    k = max(3, n // 8)
    spots = rng.sample(range(n), k + 1)
    for s in spots[:k]:
        words[s] = rng.choice(strong)
    words[spots[k]] = rng.choice(weak)
    return " ".join(words)


def build_corpus(n, seed):
    rng = random.Random(seed)
    labels = [rng.randint(0, 1) for _ in range(n)]
    return Dataset.from_dict({"review": [write_review(l, rng) for l in labels], "label": labels})


def train_tokenizer(texts):
    raw = Tokenizer(models.WordLevel(unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    raw.train_from_iterator(texts, trainers.WordLevelTrainer(
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))
    raw.post_processor = processors.RobertaProcessing(sep=("</s>", 2), cls=("<s>", 0))
    return PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", eos_token="</s>",
                                   cls_token="<s>", sep_token="</s>", unk_token="<unk>",
                                   pad_token="<pad>", mask_token="<mask>", model_max_length=MAX_LEN)


def accuracy(pred):
    return {"accuracy": float((np.argmax(pred.predictions, axis=1) == pred.label_ids).mean())}


def main():
    set_seed(4)
    train, test = build_corpus(1200, 1), build_corpus(400, 2)
    tok = train_tokenizer(train["review"])
    encode = lambda b: tok(b["review"], truncation=True)
    train, test = (d.map(encode, batched=True, remove_columns=["review"]) for d in (train, test))

    config = RobertaConfig(vocab_size=len(tok), hidden_size=64, num_hidden_layers=2,
                           num_attention_heads=4, intermediate_size=128,
                           max_position_embeddings=MAX_LEN + 2, pad_token_id=tok.pad_token_id,
                           bos_token_id=tok.bos_token_id, eos_token_id=tok.eos_token_id,
                           type_vocab_size=1, num_labels=2)
    model = RobertaForSequenceClassification(config)
    args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=4, learning_rate=1e-3,
                             per_device_train_batch_size=32, per_device_eval_batch_size=100,
                             warmup_ratio=0.1, eval_strategy="epoch", save_strategy="no",
                             logging_steps=20, report_to=[], seed=4)
    trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test,
                      data_collator=DataCollatorWithPadding(tok), compute_metrics=accuracy)
    trainer.train()
    result = trainer.evaluate()
    print("test accuracy %.4f  test loss %.4f  (majority %.3f)" % (
        result["eval_accuracy"], result["eval_loss"],
        max(np.mean(test["label"]), 1 - np.mean(test["label"]))))


if __name__ == "__main__":
    main()
