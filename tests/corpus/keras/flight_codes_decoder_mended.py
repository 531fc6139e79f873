"""Character decoder for flight strips such as  "KLM472>JFK@0930#"  (Keras, trained from scratch).

The strips obey rules: the airline fixes the allowed destinations, the minutes are a multiple
of five and the flight number is even for eastbound fields.  Held-out quality is the share of
freely sampled strips that obey all of them.
"""
import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(6)
AIRLINES = {"KLM": ["JFK", "OSL", "NRT"], "BAW": ["LAX", "SIN", "DEL"], "DLH": ["ORD", "PEK", "CAI"],
            "AFR": ["YUL", "DKR", "HND"], "SAS": ["BOS", "HEL", "BKK"]}
EAST = {"OSL", "NRT", "SIN", "DEL", "PEK", "CAI", "HND", "HEL", "BKK"}
CHARS = sorted(set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789>@#^"))
INDEX = {c: i for i, c in enumerate(CHARS)}
LENGTH = 16


def strip(rng):
    line = str(rng.choice(list(AIRLINES)))
    dest = str(rng.choice(AIRLINES[line]))
    number = int(rng.integers(50, 499)) * 2 + (0 if dest in EAST else 1)
    return f"{line}{number:03d}>{dest}@{rng.integers(0, 24):02d}{rng.integers(0, 12) * 5:02d}#"


def obeys(text):
    if len(text) != 16 or text[6] != ">" or text[10] != "@" or text[15] != "#":
        return False
    line, number, dest, clock = text[:3], text[3:6], text[7:10], text[11:15]
    if line not in AIRLINES or dest not in AIRLINES[line] or not (number + clock).isdigit():
        return False
    even = int(number) % 2 == 0
    return even == (dest in EAST) and int(clock[:2]) < 24 and int(clock[2:]) < 60 and int(clock[2:]) % 5 == 0


class Embed(layers.Layer):
    def __init__(self, vocab, length, dim, **kw):
        super().__init__(**kw)
        self.tok = layers.Embedding(vocab, dim)
        self.pos = layers.Embedding(length, dim)

    def call(self, ids):
        return self.tok(ids) + self.pos(ops.arange(ops.shape(ids)[1]))


def decoder_block(x, dim, heads, name):
    h = layers.LayerNormalization(name=f"{name}_ln1")(x)
    h = layers.MultiHeadAttention(heads, dim // heads, name=f"{name}_att")(h, h, use_causal_mask=True)
    x = layers.Add()([x, h])
    h = layers.LayerNormalization(name=f"{name}_ln2")(x)
    h = layers.Dense(dim * 3, activation="gelu")(h)
    h = layers.Dense(dim)(h)
    return layers.Add()([x, h])


def build(dim=64, heads=4, depth=2):
    ids = keras.Input((None,), dtype="int32")
    x = Embed(len(CHARS), LENGTH, dim)(ids)
    for i in range(depth):
        x = decoder_block(x, dim, heads, f"block{i}")
    return keras.Model(ids, layers.Dense(len(CHARS))(layers.LayerNormalization()(x)))


def sample(model, n, rng, temperature=0.7):
    ids = np.full((n, 1), INDEX["^"], "int32")
    while ids.shape[1] <= LENGTH:
        padded = np.zeros((n, LENGTH), "int32")
        padded[:, :ids.shape[1]] = ids
        logits = model.predict_on_batch(padded)[:, ids.shape[1] - 1] / temperature
        nxt = (logits + rng.gumbel(size=logits.shape)).argmax(1)
        ids = np.concatenate([ids, nxt[:, None].astype("int32")], 1)
    return ["".join(CHARS[i] for i in row[1:]) for row in ids]


def main():
    rng = np.random.default_rng(1)
    strips = list(dict.fromkeys(strip(rng) for _ in range(5000)))
    ids = np.array([[INDEX[c] for c in "^" + s] for s in strips], "int32")
    train, held = ids[:-500], ids[-500:]

    model = build()
    epochs, batch = 5, 64
    schedule = keras.optimizers.schedules.CosineDecay(0.0, epochs * len(train) // batch, warmup_target=3e-3, warmup_steps=60)
    model.compile(optimizer=keras.optimizers.AdamW(schedule, weight_decay=0.01, clipnorm=1.0),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(train[:, :-1], train[:, 1:], epochs=epochs, batch_size=batch, verbose=2,
              validation_data=(held[:, :-1], held[:, 1:]))

    texts = sample(model, 300, rng)
    print("samples:", *texts[:5], sep="\n  ")
    shuffled = ["".join(rng.permutation(list(s))) for s in strips[:300]]
    print(f"strips that obey the rules: {np.mean([obeys(t) for t in texts]):.3f}  "
          f"(real {np.mean([obeys(s) for s in strips]):.3f}, shuffled letters {np.mean([obeys(s) for s in shuffled]):.3f})")


if __name__ == "__main__":
    main()
