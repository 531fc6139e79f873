"""Route short call-centre notes to one of three desks."""
import argparse

import numpy as np
import keras
from keras import layers

BILLING = "invoice refund charge payment card overdue receipt amount".split()
TECH = "router signal reboot cable outage modem slow firmware".split()
MOVES = "address moving transfer house flat landlord keys relocate".split()
COMMON = ("customer called today about the their please again said wants was and "
          "agent with for very quick question told yesterday account help").split()
VOCAB = ["<pad>"] + sorted(set(BILLING + TECH + MOVES + COMMON))
INDEX = {w: i for i, w in enumerate(VOCAB)}


def write_note(topic, rng):
    words = list(rng.choice(COMMON, rng.integers(4, 12)))
    pool = [BILLING, TECH, MOVES][topic]
    other = [BILLING, TECH, MOVES][(topic + 1) % 3]
    words += list(rng.choice(pool, 3)) + list(rng.choice(other, 1))
    rng.shuffle(words)
    return words


def encode(notes, maxlen):
    ids = [[INDEX[w] for w in n] for n in notes]
    return keras.utils.pad_sequences(ids, maxlen=maxlen, padding="post", truncating="post")


def build(width, maxlen):
    inp = keras.Input((maxlen,), dtype="int32")
    h = layers.Embedding(len(VOCAB), width)(inp)
    h = layers.LSTM(32)(h)
    out = layers.Dense(3, activation="softmax")(h)
    return keras.Model(inp, out)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--maxlen", type=int, default=80)
    ap.add_argument("--width", type=int, default=24)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=4)
    args = ap.parse_args()

    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    y = rng.integers(0, 3, 1800)
    x = encode([write_note(t, rng) for t in y], args.maxlen)
    x_tr, y_tr, x_te, y_te = x[:1500], y[:1500], x[1500:], y[1500:]

    model = build(args.width, args.maxlen)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss=keras.losses.SparseCategoricalCrossentropy(),
        metrics=["accuracy"],
    )
    model.fit(x_tr, y_tr, batch_size=args.batch, epochs=args.epochs,
              validation_data=(x_te, y_te), verbose=2)
    pred = model.predict(x_te, verbose=0).argmax(-1)
    for k, name in enumerate(["billing", "tech", "moves"]):
        print(f"{name:8s} recall {np.mean(pred[y_te == k] == k):.3f}")
    print(f"accuracy {np.mean(pred == y_te):.3f}")


if __name__ == "__main__":
    main()
