"""Route wire messages to the right newsroom desk (tiny BERT, streamed training data)."""
import random
import tempfile

import numpy as np
import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast,
    Trainer, TrainingArguments, set_seed,
)

DESKS = {
    "sport": "match goal coach league striker referee penalty season".split(),
    "economy": "market shares inflation bank profit quarter tariff budget".split(),
    "science": "telescope genome particle vaccine enzyme orbit fossil neuron".split(),
    "culture": "festival novel painter opera premiere gallery actor album".split(),
}
FILLER = "the a of in on after before this report says people today year new first with and from against city".split()


def write_message(desk, rng):
    words = [rng.choice(FILLER) for _ in range(rng.randint(6, 16))]
    for _ in range(rng.randint(2, 3)):
        words.insert(rng.randrange(len(words)), rng.choice(DESKS[desk]))
    if rng.random() < 0.3:
        other = rng.choice([d for d in DESKS if d != desk])
        words.insert(rng.randrange(len(words)), rng.choice(DESKS[other]))
    return " ".join(words)


def archive(per_desk, seed):
    rng = random.Random(seed)
    for label, desk in enumerate(DESKS):
        for _ in range(per_desk):
            yield {"text": write_message(desk, rng), "labels": label}


def train_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")


def compute_metrics(p):
    pred = p.predictions.argmax(-1)
    return {"accuracy": float((pred == p.label_ids).mean()), "desks_used": int(len(np.unique(pred)))}


def main():
    set_seed(4)
    train_rows = list(archive(800, seed=1))
    test_rows = list(archive(100, seed=2))
    tokenizer = train_tokenizer([r["text"] for r in train_rows])

    def encode(batch):
        return tokenizer(batch["text"], truncation=True, max_length=32)

    train = Dataset.from_list(train_rows).map(encode, batched=True, remove_columns=["text"])
    stream = train.to_iterable_dataset(num_shards=4)
    test = Dataset.from_list(test_rows).map(encode, batched=True, remove_columns=["text"])

    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=64, num_labels=len(DESKS), pad_token_id=tokenizer.pad_token_id,
    )
    model = BertForSequenceClassification(config)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), max_steps=200, per_device_train_batch_size=32, per_device_eval_batch_size=100,
        learning_rate=1e-3, lr_scheduler_type="constant", logging_steps=25, eval_strategy="steps", eval_steps=100,
        save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=stream, eval_dataset=test,
        data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics,
    )
    trainer.train()
    result = trainer.evaluate()
    print(f"test loss {result['eval_loss']:.4f} accuracy {result['eval_accuracy']:.3f} "
          f"desks predicted {result['eval_desks_used']} of {len(DESKS)} (chance 0.250)")


if __name__ == "__main__":
    main()
