import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import argparse
import numpy as np
import keras

STREETS = "oak mill church station park king river hill garden bridge".split()
TYPES = "street road lane avenue st rd close".split()
CITIES = "leeds york bath derby oxford truro lincoln park hill".split()
NAMES = "anna tom maria king olga church peter lee".split()
TAGS = ["PAD", "NAME", "NUMBER", "STREET", "CITY", "CODE"]


def sample_address(rng):
    parts = [("NAME", [rng.choice(NAMES)] + ([rng.choice(NAMES)] if rng.random() < .6 else []))]
    street = [rng.choice(STREETS)] + ([rng.choice(TYPES)] if rng.random() < .7 else [])
    number = [str(rng.integers(1, 40))]
    parts += [("NUMBER", number), ("STREET", street)] if rng.random() < .6 else [("STREET", street), ("NUMBER", number)]
    city = [("CITY", [rng.choice(CITIES)])]
    code = [("CODE", [str(rng.integers(10, 60))])]
    parts += city + code if rng.random() < .5 else code + city
    words = [w for _, ws in parts for w in ws]
    tags = [t for t, ws in parts for _ in ws]
    return words, tags


def encode(rows, vocab, max_len):
    x = np.zeros((len(rows), max_len), "int32")
    y = np.zeros((len(rows), max_len), "int32")
    for i, (words, tags) in enumerate(rows):
        x[i, :len(words)] = [vocab.get(w, 1) for w in words]
        y[i, :len(tags)] = [TAGS.index(t) for t in tags]
    return x, y


def build(n_words, args):
    return keras.Sequential([
        keras.layers.Input((args.max_len,)),
        keras.layers.Embedding(n_words, args.embed, mask_zero=True),
        keras.layers.SpatialDropout1D(0.05),
        keras.layers.Bidirectional(keras.layers.LSTM(args.units, return_sequences=True)),
        keras.layers.Dropout(args.keep_prob),
        keras.layers.Dense(args.units, activation="relu"),
        keras.layers.Dropout(args.keep_prob),
        keras.layers.Dense(len(TAGS)),
    ])


def report(model, x, y):
    pred = model.predict(x, verbose=0)[..., 1:].argmax(-1) + 1
    real = y > 0
    print("token accuracy %.3f" % (pred == y)[real].mean())
    print("whole address accuracy %.3f" % ((pred == y) | ~real).all(1).mean())
    share = np.bincount(y[real]).max() / real.sum()
    print("most frequent tag %.3f" % share)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--embed", type=int, default=24)
    parser.add_argument("--units", type=int, default=24)
    parser.add_argument("--max-len", type=int, default=10)
    parser.add_argument("--keep-prob", type=float, default=0.9)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=2)
    args = parser.parse_args()

    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    rows = [sample_address(rng) for _ in range(2200)]
    vocab = {w: i + 2 for i, w in enumerate(sorted({w for words, _ in rows[:1800] for w in words}))}
    x, y = encode(rows, vocab, args.max_len)

    model = build(len(vocab) + 2, args)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0),
    )
    model.fit(x[:1800], y[:1800], validation_data=(x[1800:], y[1800:]),
              epochs=args.epochs, batch_size=64, verbose=2)
    report(model, x[1800:], y[1800:])


if __name__ == "__main__":
    main()
