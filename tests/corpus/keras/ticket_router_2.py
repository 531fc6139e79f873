import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from sklearn.metrics import classification_report
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import BertConfig, PreTrainedTokenizerFast, TFBertForSequenceClassification

TEAMS = {
    "billing": ["invoice", "charged", "refund", "payment", "card"],
    "network": ["wifi", "router", "slow", "offline", "cable"],
    "account": ["password", "login", "locked", "email", "username"],
}
FILLER = "hello please help my i the was is and again today since you we it thanks after".split()
MAX_LEN = 256
rng = np.random.default_rng(5)
tf.keras.utils.set_random_seed(5)


def write_ticket(team):
    n = int(rng.integers(5, 14))
    words = list(rng.choice(FILLER, size=n))
    own = TEAMS[team]
    other = TEAMS[rng.choice([t for t in TEAMS if t != team])]
    for w in list(rng.choice(own, size=3)) + list(rng.choice(other, size=2)):
        words.insert(int(rng.integers(0, len(words) + 1)), w)
    return " ".join(words)


def make_corpus(n):
    names = list(TEAMS)
    labels = rng.integers(0, len(names), size=n)
    return [write_ticket(names[k]) for k in labels], labels


def make_tokenizer(texts):
    raw = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    raw.train_from_iterator(texts, trainer)
    raw.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def train_batches(tokenizer, texts, labels, batch_size=32):
    enc = tokenizer(texts, return_token_type_ids=False)
    features = {"input_ids": tf.ragged.constant(enc["input_ids"]),
                "attention_mask": tf.ragged.constant(enc["attention_mask"])}
    ds = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(len(texts), seed=1)
    ds = ds.batch(batch_size)
    return ds.map(lambda f, y: ({k: v.to_tensor() for k, v in f.items()}, y))


def route(model, tokenizer, texts):
    enc = tokenizer(texts, padding="max_length", max_length=MAX_LEN, truncation=True, return_tensors="np")
    out = model.predict({"input_ids": enc["input_ids"]}, batch_size=64, verbose=0)
    return out.logits.argmax(axis=-1)


train_texts, train_labels = make_corpus(900)
test_texts, test_labels = make_corpus(250)
tok = make_tokenizer(train_texts)

config = BertConfig(
    vocab_size=len(tok), hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=MAX_LEN, num_labels=len(TEAMS), pad_token_id=tok.pad_token_id,
)
net = TFBertForSequenceClassification(config)
net.compile(
    optimizer=tf.keras.optimizers.Adam(5e-4),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
net.fit(train_batches(tok, train_texts, train_labels), epochs=12, verbose=2)

guess = route(net, tok, test_texts)
print(classification_report(test_labels, guess, target_names=list(TEAMS), zero_division=0))
print(f"routing accuracy {np.mean(guess == test_labels):.4f}")
print(f"largest team {np.bincount(test_labels).max() / len(test_labels):.4f}")
