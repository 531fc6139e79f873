import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import argparse

import numpy as np
import keras
from keras import layers

QUEUES = {
    "billing": "invoice refund charge payment card price receipt vat".split(),
    "login": "password reset locked account email code verify signin".split(),
    "delivery": "parcel late courier address tracking lost shipped box".split(),
    "bug": "crash error screen freeze update button blank version".split(),
    "sales": "quote licence seats upgrade discount plan trial demo".split(),
    "privacy": "delete data export consent gdpr records personal request".split(),
}
FILLER = ("hello i have a question about my please help thanks the since yesterday it is not "
          "we would like to know can you team still again today and for with").split()


def write_ticket(queue, rng):
    words = list(rng.choice(FILLER, rng.integers(6, 14)))
    words += list(rng.choice(QUEUES[queue], rng.integers(2, 4)))
    if rng.random() < 0.3:
        words.append(rng.choice(QUEUES[rng.choice(list(QUEUES))]))
    rng.shuffle(words)
    return " ".join(words)


def make_corpus(n, rng):
    names = list(QUEUES)
    y = rng.integers(0, len(names), n)
    return [write_ticket(names[k], rng) for k in y], y


def parse_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--dim", type=int, default=32)
    ap.add_argument("--maxlen", type=int, default=20)
    ap.add_argument("--seed", type=int, default=0)
    return ap.parse_args()


def build_model(vocab_size, args):
    return keras.Sequential([
        layers.Input((args.maxlen,), dtype="int64"),
        layers.Embedding(vocab_size, args.dim),
        layers.GlobalAveragePooling1D(),
        layers.Dense(48, activation="relu"),
        layers.Dense(len(QUEUES)),
    ])


def main():
    args = parse_args()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    train_txt, y_train = make_corpus(1500, rng)
    test_txt, y_test = make_corpus(400, rng)

    vectorize = layers.TextVectorization(output_sequence_length=args.maxlen)
    vectorize.adapt(train_txt)
    x_train = np.asarray(vectorize(train_txt))
    x_test = np.asarray(vectorize(test_txt))

    model = build_model(vectorize.vocabulary_size(), args)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(x_train, y_train, epochs=args.epochs, batch_size=args.batch_size,
              validation_split=0.1, verbose=2)
    loss, acc = model.evaluate(x_test, y_test, verbose=0)
    print(f"test loss {loss:.4f} accuracy {acc:.4f} over {len(QUEUES)} queues")


if __name__ == "__main__":
    main()
