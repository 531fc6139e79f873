import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
from types import SimpleNamespace
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForSequenceClassification, create_optimizer

args = SimpleNamespace(lr=1e-3, epochs=6, batch_size=32, weight_decay=0.01, warmup=0, seed=17, rows=800)
random.seed(args.seed)
tf_keras.utils.set_random_seed(args.seed)

QUEUES = {
    "network": ["router", "wifi", "signal", "cable", "modem", "dropout"],
    "billing": ["charge", "statement", "tariff", "credit", "receipt", "fee"],
    "hardware": ["keyboard", "battery", "screen", "printer", "hinge", "fan"],
    "account": ["password", "login", "username", "email", "profile", "locked"],
}
PHRASES = ["hello my {} is wrong since monday", "can someone look at the {} and the {} please",
           "after the update the {} does not work any more", "what is going on with my {} today",
           "i asked about {} last week and about {} before"]
NAMES = sorted(QUEUES)


def build_rows(n):
    texts, labels = [], []
    for _ in range(n):
        k = random.randrange(len(NAMES))
        phrase = random.choice(PHRASES)
        texts.append(phrase.format(*random.sample(QUEUES[NAMES[k]], phrase.count("{}"))))
        labels.append(k)
    return texts, np.array(labels, dtype="int64")


def to_dataset(texts, labels, vocab, training):
    width = 1 + max(len(t.split()) for t in texts)
    ids = np.zeros((len(texts), width), dtype="int32")
    for i, t in enumerate(texts):
        row = [1] + [vocab[w] for w in t.split()]
        ids[i, :len(row)] = row
    features = {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}
    ds = tf.data.Dataset.from_tensor_slices((features, labels))
    if training:
        ds = ds.shuffle(len(texts), seed=args.seed)
    return ds.batch(args.batch_size)


texts, labels = build_rows(args.rows)
vocab = {w: i + 2 for i, w in enumerate(sorted({w for t in texts for w in t.split()}))}
cut = int(0.8 * args.rows)
train_ds = to_dataset(texts[:cut], labels[:cut], vocab, True)
val_ds = to_dataset(texts[cut:], labels[cut:], vocab, False)

config = BertConfig(vocab_size=len(vocab) + 2, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=32, num_labels=len(NAMES))
model = TFBertForSequenceClassification(config)
optimizer, schedule = create_optimizer(
    init_lr=args.lr,
    num_train_steps=args.epochs,
    num_warmup_steps=args.warmup,
    weight_decay_rate=args.weight_decay,
)
model.compile(
    optimizer=optimizer,
    loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train_ds, validation_data=val_ds, epochs=args.epochs, verbose=2)
print("routing accuracy: %.3f" % model.evaluate(val_ds, verbose=0)[1])
