import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import math
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(17)
BASE = 0.004


def payments(n, seed):
    r = np.random.default_rng(seed)
    y = (r.random(n) < BASE).astype("float32")
    x = r.normal(size=(n, 12))
    bad = y == 1
    kind = r.random(n) < 0.5
    x[bad & kind, :3] += 2.6
    x[bad & ~kind, 3:6] -= 2.6
    shop = r.integers(0, 50, n)
    shop[bad] = np.where(r.random(bad.sum()) < 0.6, r.integers(40, 50, bad.sum()), shop[bad])
    amount = np.exp(r.normal(3, 1, n) + 0.8 * bad)
    return {"x": x.astype("float32"), "shop": shop.astype("int32"), "amount": np.log1p(amount).astype("float32")[:, None]}, y


class Balanced(keras.utils.PyDataset):
    """A quarter of each batch is fraud (drawn with replacement); honest rows go by once an epoch."""

    def __init__(self, data, y, batch=256, share=0.25, seed=0, **kw):
        super().__init__(**kw)
        self.data, self.y = data, y
        self.pos, self.neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        self.k = int(batch * share)
        self.m = batch - self.k
        self.rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self):
        return len(self.neg) // self.m

    def on_epoch_end(self):
        self.order = self.rng.permutation(self.neg)

    def __getitem__(self, i):
        rows = np.concatenate([self.order[i * self.m:(i + 1) * self.m], self.rng.choice(self.pos, self.k)])
        return {k: v[rows] for k, v in self.data.items()}, self.y[rows, None]


def average_precision(y, s):
    y = y[np.argsort(-s)]
    return float((np.cumsum(y) / np.arange(1, len(y) + 1))[y == 1].mean())


tr, ytr = payments(80000, 1)
va, yva = payments(30000, 2)
print("fraud rows", int(ytr.sum()), "of", len(ytr))

norm = layers.Normalization()
norm.adapt(np.concatenate([tr["x"], tr["amount"]], 1))
i_x, i_a = keras.Input((12,), name="x"), keras.Input((1,), name="amount")
i_s = keras.Input((), dtype="int32", name="shop")
h = layers.Concatenate()([norm(layers.Concatenate()([i_x, i_a])), layers.Embedding(50, 4)(i_s)])
h = layers.Dense(32, "relu")(h)
h = layers.Dropout(0.5)(h)
h = layers.Dense(32, "relu")(h)
out = layers.Dense(1, bias_initializer=keras.initializers.Constant(math.log(0.25 / 0.75)))(h)
model = keras.Model({"x": i_x, "amount": i_a, "shop": i_s}, out)
model.compile(keras.optimizers.AdamW(3e-4, weight_decay=5e-2),
              loss=keras.losses.BinaryCrossentropy(from_logits=True))

best, kept = 0.0, None
feed = Balanced(tr, ytr)
for epoch in range(6):
    h = model.fit(feed, epochs=epoch + 1, initial_epoch=epoch, verbose=0)
    logit = model.predict(va, batch_size=4096, verbose=0)[:, 0]
    ap = average_precision(yva, logit)
    print(f"epoch {epoch}: loss on balanced batches {h.history['loss'][0]:.4f}, "
          f"average precision at the true rate {ap:.3f} (chance {yva.mean():.4f})")
    if ap > best:
        best, kept = ap, model.get_weights()
model.set_weights(kept)

# sampling raised the prior, so shift the logits back before reading them as odds
shift = math.log(BASE / (1 - BASE)) - math.log(0.25 / 0.75)
te, yte = payments(30000, 3)
logit = model.predict(te, batch_size=4096, verbose=0)[:, 0]
cut = np.quantile(logit, 0.995)
hit = logit >= cut
print(f"test AP {average_precision(yte, logit):.3f}; top 0.5% holds {yte[hit].sum() / yte.sum():.2f} of the fraud, precision {yte[hit].mean():.2f}")
print(f"mean predicted rate after the shift {np.mean(1 / (1 + np.exp(-(logit + shift)))):.4f}, true {yte.mean():.4f}")
