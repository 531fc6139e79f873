import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import DistilBertConfig, PreTrainedTokenizerFast, TFDistilBertForSequenceClassification

tf_keras.utils.set_random_seed(6)
SUBJECTS = ["the printer", "our shop", "the login page", "my invoice", "the app", "the server", "the vpn"]
URGENT = ["is down for everyone", "lost all orders", "leaks customer data", "keeps crashing during payment",
          "is on fire again", "cannot be reached since this morning"]
CALM = ["could use a darker theme", "shows an old logo", "needs a new toner", "has a typo in the footer",
        "should be renamed", "is a little slow on mondays"]
TAILS = ["please advise", "thank you", "regards", "we are waiting", "see the screenshot", ""]
FILLERS = ["as discussed", "for the record", "dear team", "hello", "once more"]


def write_ticket(urgent, rng):
    pick = lambda a: a[rng.integers(len(a))]
    body = pick(URGENT if urgent else CALM)
    if rng.random() < 0.3:
        body = "not sure whether it " + body if rng.random() < 0.5 else body + " they say"
    return " ".join([pick(FILLERS), pick(SUBJECTS), body, pick(TAILS)]).strip()


def train_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]")


def to_dataset(tokenizer, texts, labels, batch, train):
    enc = tokenizer(texts, padding="max_length", truncation=True, max_length=18, return_tensors="np")
    feats = {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"], "labels": labels}
    ds = tf.data.Dataset.from_tensor_slices(feats)
    return ds.shuffle(len(texts), seed=6).batch(batch) if train else ds.batch(batch)


def compute_scores(model, dataset, labels):
    logits = model.predict(dataset, verbose=0).logits
    pred = np.argmax(logits, axis=-1)
    return {"accuracy": accuracy_score(labels, pred), "f1": f1_score(labels, pred, zero_division=0)}


rng = np.random.default_rng(6)
labels = (rng.random(1200) < 0.45).astype("int32")
texts = [write_ticket(u, rng) for u in labels]
flip = rng.random(len(labels)) < 0.03
labels = np.where(flip, 1 - labels, labels).astype("int32")
tokenizer = train_tokenizer(texts[:900])
train_ds = to_dataset(tokenizer, texts[:900], labels[:900], 32, True)
test_ds = to_dataset(tokenizer, texts[900:], labels[900:], 64, False)

config = DistilBertConfig(vocab_size=len(tokenizer), dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                          max_position_embeddings=32, num_labels=1)
model = TFDistilBertForSequenceClassification(config)
model.compile(optimizer=tf_keras.optimizers.Adam(1e-3))

for phase, lr in enumerate([1e-3, 3e-4]):
    model.optimizer.learning_rate.assign(lr)
    model.fit(train_ds, validation_data=test_ds, epochs=2, verbose=2)
    print("phase", phase, compute_scores(model, test_ds, labels[900:]))

final = compute_scores(model, test_ds, labels[900:])
print(f"share of urgent tickets {labels[900:].mean():.3f}")
print(f"test accuracy {final['accuracy']:.3f}  F1 {final['f1']:.3f}")
