# Route support tickets to one of six desks. Exported from the notebook `routing_v2`.
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

# --- corpus ------------------------------------------------------------------
DESKS = ["billing", "login", "shipping", "returns", "hardware", "feedback"]
VOCAB = 1500
MAXLEN = 28
common = np.arange(2, 700)
desk_words = {d: rng.choice(np.arange(700, VOCAB), 160, replace=False)
              for d in range(len(DESKS))}


def make_ticket(desk):
    n = rng.integers(10, MAXLEN + 1)
    topical = rng.random(n) < 0.22
    zipf = np.minimum(rng.zipf(1.3, n), len(common)) - 1
    words = np.where(topical, rng.choice(desk_words[desk], n), common[zipf])
    other = rng.random(n) < 0.08                      # words borrowed from other desks
    words = np.where(other, rng.integers(700, VOCAB, n), words)
    return np.pad(words, (0, MAXLEN - n))


y = rng.integers(0, len(DESKS), 4200)
x = np.stack([make_ticket(d) for d in y]).astype("int32")
flip = rng.random(len(y)) < 0.03
y = np.where(flip, rng.integers(0, len(DESKS), len(y)), y)
x_tr, y_tr, x_va, y_va, x_te, y_te = x[:3000], y[:3000], x[3000:3500], y[3000:3500], x[3500:], y[3500:]

# --- schedule ----------------------------------------------------------------
EPOCHS = 8
BATCH = 32
PEAK_LR = 2e-3
STEPS_PER_EPOCH = len(x_tr) // BATCH
TOTAL_STEPS = EPOCHS * STEPS_PER_EPOCH
WARMUP_STEPS = int(0.1 * TOTAL_STEPS)


class WarmupLinear(keras.optimizers.schedules.LearningRateSchedule):
    """Linear ramp to `peak`, then linear decay to zero over the remaining steps."""

    def __init__(self, peak, warmup, total):
        self.peak, self.warmup, self.total = peak, warmup, total

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        up = (step + 1.0) / self.warmup
        down = (self.total - step) / max(1, self.total - self.warmup)
        return self.peak * tf.where(step < self.warmup, up, tf.maximum(down, 0.0))

    def get_config(self):
        return {"peak": self.peak, "warmup": self.warmup, "total": self.total}


# --- model -------------------------------------------------------------------
tokens = keras.Input((MAXLEN,), dtype="int32")
h = layers.Embedding(VOCAB, 48)(tokens)
h = layers.SpatialDropout1D(0.1)(h)
a = layers.Conv1D(48, 3, padding="same", activation="gelu")(h)
b = layers.Conv1D(48, 1, activation="gelu")(h)
h = layers.Concatenate()([layers.GlobalMaxPooling1D()(a), layers.GlobalAveragePooling1D()(b)])
h = layers.Dropout(0.2)(h)
logits = layers.Dense(len(DESKS))(h)
model = keras.Model(tokens, logits)

optimizer = keras.optimizers.AdamW(
    learning_rate=WarmupLinear(PEAK_LR, WARMUP_STEPS, TOTAL_STEPS), weight_decay=1e-3)
model.compile(optimizer,
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])

hist = model.fit(x_tr, y_tr, batch_size=BATCH, epochs=EPOCHS,
                 validation_data=(x_va, y_va), verbose=2)

loss, acc = model.evaluate(x_te, y_te, verbose=0)
prior = np.bincount(y_te).max() / len(y_te)
print(f"steps {int(optimizer.iterations.numpy())}   test loss {loss:.3f}   "
      f"test accuracy {acc:.3f}   (most frequent desk {prior:.3f})")
