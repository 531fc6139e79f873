"""Route support tickets to a desk (billing, shipping, login, hardware, returns)."""
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

DESKS = ["billing", "shipping", "login", "hardware", "returns"]
KEY = {
    "billing": "invoice charge card payment refund tax amount twice".split(),
    "shipping": "parcel courier delay address tracking door late box".split(),
    "login": "password reset account locked code email verify session".split(),
    "hardware": "screen battery fan noise cable port broken heat".split(),
    "returns": "return label exchange size send back refund box".split(),
}
COMMON = ("the a my i you please help hello since yesterday is was not can with for on order again "
          "still need want it very thanks what why").split()


def write_ticket(desk):
    words = []
    for _ in range(rng.integers(8, 22)):
        r = rng.random()
        if r < 0.22:
            words.append(rng.choice(KEY[desk]))
        elif r < 0.30:
            words.append(rng.choice(KEY[rng.choice(DESKS)]))
        else:
            words.append(rng.choice(COMMON))
    return " ".join(words)


def make(n):
    y = rng.integers(0, len(DESKS), n)
    return [write_ticket(DESKS[k]) for k in y], y


train_text, y_train = make(5000)
test_text, y_test = make(1000)

vocab = {w: i + 1 for i, w in enumerate(sorted({w for t in train_text for w in t.split()}))}
MAXLEN = 24


def encode(texts):
    out = np.zeros((len(texts), MAXLEN), dtype="int32")
    for r, t in enumerate(texts):
        ids = [vocab.get(w, 0) for w in t.split()][:MAXLEN]
        out[r, : len(ids)] = ids
    return out


x_train, x_test = encode(train_text), encode(test_text)

model = keras.Sequential([
    keras.Input((MAXLEN,), dtype="int32"),
    layers.Embedding(len(vocab) + 1, 32),
    layers.Conv1D(48, 3, padding="same", activation="relu"),
    layers.GlobalAveragePooling1D(),
    layers.Dropout(0.2),
    layers.Dense(32, activation="relu"),
    layers.Dense(len(DESKS)),
])
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, validation_split=0.1, epochs=10, batch_size=64, verbose=2)

scores = model.predict(x_test, verbose=0)
pred = scores.argmax(1)
print("test accuracy %.3f" % (pred == y_test).mean())
for k, name in enumerate(DESKS):
    print(f"  {name:10s} recall {(pred[y_test == k] == k).mean():.2f}")
