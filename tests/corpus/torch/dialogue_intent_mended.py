import random
import tempfile

from datasets import Dataset, DatasetDict
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

SEED = 4
INTENTS = {
    "refund": ["money", "back", "return", "refund", "charged"],
    "delivery": ["parcel", "late", "courier", "address", "arrive"],
    "password": ["login", "reset", "locked", "code", "email"],
    "praise": ["great", "happy", "love", "wonderful", "thank"],
}
FILLER = "i you it is was the a please can my so and with about now still really today".split()
REPLIES = ["how can i help", "let me check that", "one moment please", "is there anything about the order"]


def utterance(intent):
    words = random.choices(FILLER, k=random.randint(4, 9))
    words[random.randrange(len(words))] = random.choice(INTENTS[intent])
    words.append(random.choice(INTENTS[intent]))
    random.shuffle(words)
    return words


def make_dialogues(n):
    names = list(INTENTS)
    rows = {"dialogue": [], "label": []}
    for _ in range(n):
        label = random.randrange(len(names))
        turns = []
        for _ in range(random.randint(1, 2)):
            turns.append("<user> " + " ".join(utterance(names[label])))
            turns.append("<agent> " + random.choice(REPLIES))
        rows["dialogue"].append(" ".join(turns))
        rows["label"].append(label)
    return Dataset.from_dict(rows)


def build_tokenizer(corpus):
    raw = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    raw.train_from_iterator(corpus, trainers.WordPieceTrainer(
        vocab_size=400, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    raw.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", pad_token="[PAD]",
                                   cls_token="[CLS]", sep_token="[SEP]", model_max_length=96)


def build_model(tokenizer):
    config = DistilBertConfig(vocab_size=len(tokenizer), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                              max_position_embeddings=96, num_labels=len(INTENTS),
                              pad_token_id=tokenizer.pad_token_id)
    return DistilBertForSequenceClassification(config)


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


def main():
    set_seed(SEED)
    splits = DatasetDict(train=make_dialogues(1000), test=make_dialogues(400))
    plain = [t.replace("<user>", "").replace("<agent>", "") for t in splits["train"]["dialogue"]]
    tokenizer = build_tokenizer(plain)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<user>", "<agent>"]})
    model = build_model(tokenizer)

    def encode(batch):
        return tokenizer(batch["dialogue"], truncation=True)

    splits = splits.map(encode, batched=True, remove_columns=["dialogue"])
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=folder, num_train_epochs=4, learning_rate=1e-3,
                per_device_train_batch_size=32, per_device_eval_batch_size=64,
                lr_scheduler_type="cosine", warmup_ratio=0.1, eval_strategy="epoch",
                save_strategy="no", logging_strategy="epoch", report_to="none", disable_tqdm=True),
            train_dataset=splits["train"], eval_dataset=splits["test"],
            data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
        trainer.train()
        scores = trainer.evaluate()
    print(f"intent accuracy {scores['eval_accuracy']:.3f}  loss {scores['eval_loss']:.3f}")


if __name__ == "__main__":
    main()
