"""Rewrite dates typed by clerks ("3 sept 1987", "March 14, 2002") to ISO form with a GRU encoder-decoder."""
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

MONTHS = ["january", "february", "march", "april", "may", "june", "july",
          "august", "september", "october", "november", "december"]
BOS, EOS = "<", ">"


def sample():
    y, m, d = int(rng.integers(1950, 2030)), int(rng.integers(1, 13)), int(rng.integers(1, 29))
    name = MONTHS[m - 1]
    if rng.random() < 0.5:
        name = name[:3]
    text = f"{d} {name} {y}" if rng.random() < 0.5 else f"{name} {d}, {y}"
    return text, f"{y:04d}-{m:02d}-{d:02d}"


pairs = [sample() for _ in range(9000)]
src_chars = sorted({c for s, _ in pairs for c in s})
tgt_chars = [BOS, EOS, "-"] + list("0123456789")
S = {c: i + 1 for i, c in enumerate(src_chars)}
T = {c: i for i, c in enumerate(tgt_chars)}
SRC_LEN = max(len(s) for s, _ in pairs)

src = np.zeros((len(pairs), SRC_LEN), "int32")
seq = np.zeros((len(pairs), 12), "int32")
for i, (s, t) in enumerate(pairs):
    src[i, :len(s)] = [S[c] for c in s]
    seq[i] = [T[c] for c in BOS + t + EOS]

dec_in = seq[:, :-1]
dec_out = seq[:, 1:]

n_train = 8500
train = ({"src": src[:n_train], "prev": dec_in[:n_train]}, dec_out[:n_train])
valid = ({"src": src[n_train:], "prev": dec_in[n_train:]}, dec_out[n_train:])


def build(units=80):
    a = keras.Input((SRC_LEN,), dtype="int32", name="src")
    b = keras.Input((None,), dtype="int32", name="prev")
    e = layers.Embedding(len(S) + 1, 32)(a)
    enc = layers.Bidirectional(layers.GRU(units // 2, return_sequences=True))(e)
    last = layers.Lambda(lambda z: z[:, 0], output_shape=(units,))(enc)
    d = layers.Embedding(len(T), 32)(b)
    h = layers.GRU(units, return_sequences=True)(d, initial_state=last)
    ctx = layers.Attention(use_scale=True)([h, enc])
    z = layers.Dense(units, activation="tanh")(layers.Concatenate()([h, ctx]))
    return keras.Model([a, b], layers.Dense(len(T))(z))


model = build()
model.compile(
    optimizer=keras.optimizers.Adam(4e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(*train, validation_data=valid, batch_size=64, epochs=8, verbose=2)


def rewrite(batch):
    out = np.zeros((len(batch), 12), "int32")
    out[:, 0] = T[BOS]
    for k in range(11):
        logits = ops.convert_to_numpy(model([batch, out[:, :11]], training=False))
        out[:, k + 1] = logits[:, k].argmax(-1)
    return ["".join(tgt_chars[j] for j in row[1:]).rstrip(EOS) for row in out]


got = rewrite(src[n_train:])
want = [t for _, t in pairs[n_train:]]
for (s, t), g in list(zip(pairs[n_train:], got))[:5]:
    print(f"{s:22s} {t}  {g}")
print("exact dates:", np.mean([g == w for g, w in zip(got, want)]))
