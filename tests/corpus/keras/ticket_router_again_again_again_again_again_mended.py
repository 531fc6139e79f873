"""Routes support tickets to a team. Settings live in one dict."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SETTINGS = {
    "seed": 21,
    "tickets": 3000,
    "vocab": 400,
    "length": 24,
    "embed": 32,
    "batch": 32,
    "epochs": 12,
    "optimizer": "adam",
    "loss": "sparse_categorical_crossentropy",
    "patience": 4,
}

TEAMS = {
    "billing": "invoice refund charge card payment receipt price vat".split(),
    "network": "router wifi latency vpn dns packet cable signal".split(),
    "account": "password login email reset locked username profile token".split(),
    "hardware": "screen battery keyboard fan noise charger broken hinge".split(),
    "shipping": "parcel courier address late tracking box returned customs".split(),
}
FILLER = (
    "hello please the my i have a problem with since yesterday thanks it is not "
    "working again could you help me and was for on at this that when after"
).split()


def write_ticket(rng, team):
    n = rng.integers(10, 24)
    words = list(rng.choice(FILLER, n))
    for pos in rng.choice(n, 3, replace=False):
        words[pos] = rng.choice(TEAMS[team])
    if rng.random() < 0.5:
        stray = rng.choice(list(TEAMS))
        words[rng.integers(n)] = rng.choice(TEAMS[stray])
    return " ".join(words)


def make_corpus(n, seed):
    rng = np.random.default_rng(seed)
    names = list(TEAMS)
    labels = rng.integers(0, len(names), n)
    return [write_ticket(rng, names[k]) for k in labels], labels.astype("int64")


def build(cfg, n_classes):
    model = keras.Sequential(
        [
            keras.Input((cfg["length"],), dtype="int64"),
            layers.Embedding(cfg["vocab"], cfg["embed"]),
            layers.Conv1D(48, 3, activation="relu", padding="same"),
            layers.GlobalMaxPooling1D(),
            layers.Dense(32, activation="relu"),
            layers.Dense(n_classes, activation="softmax"),
        ]
    )
    model.compile(optimizer=cfg["optimizer"], loss=cfg["loss"], metrics=["accuracy"])
    return model


def main(cfg=SETTINGS):
    keras.utils.set_random_seed(cfg["seed"])
    texts, labels = make_corpus(cfg["tickets"], cfg["seed"])
    cut = int(0.8 * len(texts))

    vectorize = layers.TextVectorization(
        max_tokens=cfg["vocab"], output_sequence_length=cfg["length"]
    )
    vectorize.adapt(tf.constant(texts[:cut]))
    ids = vectorize(tf.constant(texts)).numpy()

    model = build(cfg, len(TEAMS))
    stop = keras.callbacks.EarlyStopping(
        "val_loss", patience=cfg["patience"], restore_best_weights=True
    )
    history = model.fit(
        ids[:cut],
        labels[:cut],
        validation_data=(ids[cut:], labels[cut:]),
        batch_size=cfg["batch"],
        epochs=cfg["epochs"],
        callbacks=[stop],
        verbose=2,
    )
    loss, acc = model.evaluate(ids[cut:], labels[cut:], verbose=0)
    print("epochs run", len(history.history["loss"]), "chance", 1 / len(TEAMS))
    print(f"held-out loss {loss:.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
