import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import (BertConfig, BertForTokenClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(7)
rng = np.random.default_rng(7)
TAGS = ["O", "STREET", "NUMBER", "CITY", "ZIP"]
STREETS = ["Mill Road", "Station Street", "Church Lane", "Oak Avenue", "King Street", "Park Lane", "Long Walk"]
CITIES = ["Ashford", "New Haven", "Port Ellen", "Bristol", "Kingston", "Oakham", "Milton"]
OPENERS = ["please send it to", "she lives at", "our office moved to", "deliver the box to", ""]


def make():
    words, tags = [], []

    def put(text, tag):
        for w in text.split():
            words.append(w)
            tags.append(TAGS.index(tag))

    put(rng.choice(OPENERS), "O")
    number, street = str(rng.integers(1, 200)), rng.choice(STREETS)
    if rng.random() < 0.5:
        put(number, "NUMBER"); put(street, "STREET")
    else:
        put(street, "STREET"); put(number, "NUMBER")
    put("in", "O") if rng.random() < 0.5 else None
    if rng.random() < 0.7:
        put(str(rng.integers(10000, 99999)), "ZIP")
    put(rng.choice(CITIES), "CITY")
    return {"words": words, "tags": tags}


ds = Dataset.from_list([make() for _ in range(1200)]).train_test_split(0.2, seed=1)

backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
backend.normalizer = normalizers.Lowercase()
backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
backend.train_from_iterator((" ".join(w) for w in ds["train"]["words"]),
                            trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[PAD]", "[UNK]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]")


def align(batch):
    enc = tokenizer(batch["words"], is_split_into_words=True, truncation=True, max_length=48)
    enc["labels"] = []
    for i, tags in enumerate(batch["tags"]):
        last, row = None, []
        for w in enc.word_ids(i):
            row.append(-100 if w is None or w == last else tags[w])
            last = w
        enc["labels"].append(row)
    return enc


ds = ds.map(align, batched=True, remove_columns=["words", "tags"])
collator = DataCollatorWithPadding(tokenizer)
model = BertForTokenClassification(BertConfig(
    vocab_size=len(tokenizer), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=48, num_labels=len(TAGS)))


def metrics(p):
    keep = p.label_ids != -100
    hit = p.predictions.argmax(-1) == p.label_ids
    return {"word_accuracy": hit[keep].mean(), "city": hit[p.label_ids == TAGS.index("CITY")].mean()}


args = TrainingArguments("out_addresses", num_train_epochs=5, learning_rate=2e-3, per_device_train_batch_size=16,
                         eval_strategy="epoch", logging_strategy="epoch", save_strategy="no", report_to="none",
                         disable_tqdm=True)
trainer = Trainer(model, args, data_collator=collator, train_dataset=ds["train"], eval_dataset=ds["test"],
                  compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
