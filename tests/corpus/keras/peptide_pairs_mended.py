"""Attention classifier: does a peptide carry the two halves of a binding motif?

A positive needs half A followed later by half B (any gap, one substitution allowed);
negatives have one half, or the halves in the opposite order.
"""
import numpy as np
import keras
from keras import layers, ops
from sklearn.metrics import roc_auc_score

AA = 20
LEN = 32
D_MODEL = 32
HEADS = 4
EPOCHS = 6
BATCH = 48
WARMUP = 120
FACTOR = 0.4
HALF_A = np.array([3, 17, 9, 12])
HALF_B = np.array([6, 2, 14, 19])


def plant(seq, half, pos, rng):
    half = half.copy()
    if rng.random() < .6:
        half[rng.integers(0, 4)] = rng.integers(0, AA)
    seq[pos:pos + 4] = half


def peptide(positive, rng):
    seq = rng.integers(0, AA, LEN)
    left, right = rng.integers(0, LEN // 2 - 4), rng.integers(LEN // 2, LEN - 4)
    if positive:
        plant(seq, HALF_A, left, rng)
        plant(seq, HALF_B, right, rng)
    else:
        kind = rng.integers(0, 3)
        if kind != 1:
            plant(seq, HALF_B, left, rng)
        if kind != 2:
            plant(seq, HALF_A, right, rng)
    return seq


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.stack([peptide(p, rng) for p in y]).astype("int32"), y.astype("float32")


class Positions(layers.Layer):
    def build(self, shape):
        self.table = self.add_weight(name="table", shape=(shape[1], shape[2]),
                                     initializer=keras.initializers.RandomNormal(stddev=.02))

    def call(self, x):
        return x + self.table


def encoder(x):
    y = layers.LayerNormalization(epsilon=1e-5)(x)
    y = layers.MultiHeadAttention(HEADS, D_MODEL // HEADS, dropout=.1)(y, y)
    x = layers.Add()([x, y])
    y = layers.LayerNormalization(epsilon=1e-5)(x)
    y = layers.Dense(2 * D_MODEL, activation="gelu")(y)
    return layers.Add()([x, layers.Dense(D_MODEL)(y)])


def make_model():
    inp = keras.Input((LEN,), dtype="int32")
    x = layers.Embedding(AA, D_MODEL)(inp)
    x = Positions()(x)
    x = layers.Conv1D(D_MODEL, 4, padding="same", activation="gelu")(x)
    x = encoder(x)
    x = layers.LayerNormalization()(x)
    x = layers.GlobalMaxPooling1D()(x)
    return keras.Model(inp, layers.Dense(1)(x))


class InverseSqrtWarmup(keras.callbacks.Callback):
    """Learning rate of "Attention is all you need", set before each update."""

    def __init__(self, d_model, warmup, factor=1.0):
        super().__init__()
        self.d_model, self.warmup, self.factor = d_model, warmup, factor
        self.updates = 0

    def rate(self, step):
        return self.factor * self.d_model ** -0.5 * min(step ** -0.5, step * self.warmup ** -1.5)

    def on_train_batch_begin(self, batch, logs=None):
        self.model.optimizer.learning_rate = self.rate(self.updates + 1)
        self.updates += 1

    def on_epoch_end(self, epoch, logs=None):
        logs["lr"] = float(ops.convert_to_numpy(self.model.optimizer.learning_rate))


if __name__ == "__main__":
    keras.utils.set_random_seed(2)
    x, y = dataset(2600, 0)
    x_te, y_te = dataset(1000, 1)
    model = make_model()
    model.compile(keras.optimizers.Adam(1e-3, beta_2=.98, epsilon=1e-9),
                  loss=keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")])
    model.fit(x, y, batch_size=BATCH, epochs=EPOCHS, validation_split=.1, verbose=2,
              callbacks=[InverseSqrtWarmup(D_MODEL, WARMUP, FACTOR)])
    scores = model.predict(x_te, batch_size=250, verbose=0)[:, 0]
    print(f"test AUC {roc_auc_score(y_te, scores):.3f}   "
          f"accuracy {np.mean((scores > 0) == y_te):.3f}   "
          f"(majority {max(y_te.mean(), 1 - y_te.mean()):.3f})")
