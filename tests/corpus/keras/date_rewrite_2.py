# Rewrite free-form dates ("7 mar 1994") as ISO dates with a GRU encoder-decoder.
import argparse
import random

import keras
import numpy as np
from keras import layers

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
PAD, BOS, EOS = 0, 1, 2
CHARS = sorted(set("abcdefghijklmnopqrstuvwxyz0123456789 ,-/"))
STOI = {c: i + 3 for i, c in enumerate(CHARS)}
VOCAB = len(CHARS) + 3


def sample(rnd):
    d, m, y = rnd.randint(1, 28), rnd.randint(1, 12), rnd.randint(1950, 2029)
    style = rnd.randrange(3)
    name = MONTHS[m - 1]
    src = [f"{d} {name} {y}", f"{name} {d}, {y}", f"{d}/{m}/{y}"][style]
    return src, f"{y}-{m:02d}-{d:02d}"


def encode(text, length):
    ids = [STOI[c] for c in text][:length]
    return ids + [PAD] * (length - len(ids))


def build_arrays(n, seed, src_len=12, tgt_len=10):
    rnd = random.Random(seed)
    pairs = [sample(rnd) for _ in range(n)]
    src = np.array([encode(s, src_len) for s, _ in pairs])
    tgt = np.array([[BOS] + encode(t, tgt_len) + [EOS] for _, t in pairs])
    return src, tgt


def build_model(dim):
    src = keras.Input((None,), dtype="int32", name="src")
    dec = keras.Input((None,), dtype="int32", name="dec")
    emb = layers.Embedding(VOCAB, dim // 2)
    enc_seq, fwd, bwd = layers.Bidirectional(
        layers.GRU(dim // 2, return_sequences=True, return_state=True)
    )(emb(src))
    state = layers.Concatenate()([fwd, bwd])
    dec_seq = layers.GRU(dim, return_sequences=True)(emb(dec), initial_state=state)
    ctx = layers.Attention()([dec_seq, enc_seq])
    h = layers.Concatenate()([dec_seq, ctx])
    h = layers.Dense(dim, activation="tanh")(h)
    return keras.Model([src, dec], layers.Dense(VOCAB)(h))


def greedy(model, src, steps):
    out = np.full((len(src), 1), BOS)
    for _ in range(steps):
        padded = np.pad(out, ((0, 0), (0, steps + 1 - out.shape[1])))
        logits = model.predict_on_batch([src, padded])
        nxt = logits[:, out.shape[1] - 1].argmax(-1)
        out = np.concatenate([out, nxt[:, None]], axis=1)
    return out[:, 1:]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--dim", type=int, default=96)
    args = ap.parse_args()
    keras.utils.set_random_seed(11)

    src, tgt = build_arrays(6000, 1)
    vsrc, vtgt = build_arrays(500, 2)
    dec_in, dec_out = tgt[:, 1:], tgt[:, 1:]
    v_in, v_out = vtgt[:, 1:], vtgt[:, 1:]

    model = build_model(args.dim)
    model.compile(
        optimizer=keras.optimizers.Adam(4e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        [src, dec_in], dec_out,
        validation_data=([vsrc, v_in], v_out),
        epochs=args.epochs, batch_size=64, verbose=2,
    )
    got = greedy(model, vsrc, vtgt.shape[1] - 1)
    exact = (got == vtgt[:, 1:]).all(1).mean()
    chars = (got == vtgt[:, 1:]).mean()
    print(f"decoded: exact {exact:.3f}  characters {chars:.3f}")
    back = {v: k for k, v in STOI.items()}
    for s, g in zip(vsrc[:4], got[:4]):
        print("".join(back.get(i, "") for i in s), "->", "".join(back.get(i, "") for i in g))


if __name__ == "__main__":
    main()
