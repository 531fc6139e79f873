"""Rating prediction for a book club: one embedding per categorical field,
pairwise interactions (FM style) plus a small tower on top."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import layers, ops

FIELDS = {"reader": 300, "book": 200, "branch": 12, "season": 4}


def simulate_log(n, rng):
    """Latent-taste ratings in 1..5, with reader and book offsets and a branch effect."""
    taste = rng.normal(0, 0.8, (FIELDS["reader"], 3))
    theme = rng.normal(0, 0.8, (FIELDS["book"], 3))
    r_bias = rng.normal(0, 0.4, FIELDS["reader"])
    b_bias = rng.normal(0, 0.5, FIELDS["book"])
    br_bias = rng.normal(0, 0.2, FIELDS["branch"])
    ids = {k: rng.integers(0, v, n).astype("int32") for k, v in FIELDS.items()}
    r, b = ids["reader"], ids["book"]
    score = 3.4 + (taste[r] * theme[b]).sum(1) + r_bias[r] + b_bias[b] + br_bias[ids["branch"]]
    score += rng.normal(0, 0.35, n)
    return ids, np.clip(score, 1, 5).astype("float32")


class FieldEncoder(layers.Layer):
    """Embedding and first-order weight of a single categorical field."""

    def __init__(self, name, cardinality, dim):
        super().__init__(name=f"{name}_encoder")
        self.field = name
        reg = keras.regularizers.L2(1e-6)
        self.vector = layers.Embedding(cardinality, dim, embeddings_regularizer=reg)
        self.bias = layers.Embedding(cardinality, 1, embeddings_initializer="zeros")

    def call(self, features):
        ids = features[self.field]
        return self.vector(ids), self.bias(ids)


class FactorTower(keras.Model):
    def __init__(self, fields, dim=8, hidden=32, offset=0.0):
        super().__init__()
        self.encoders = [FieldEncoder(k, v, dim) for k, v in fields.items()]
        self.tower = keras.Sequential([
            layers.Dense(hidden, activation="relu"),
            layers.Dropout(0.1),
            layers.Dense(1),
        ])
        self.offset = offset

    def call(self, features, training=None):
        encoded = [encoder(features) for encoder in self.encoders]
        vectors = ops.stack([v for v, _ in encoded], axis=1)          # (batch, field, dim)
        first_order = sum(b for _, b in encoded)
        sum_sq = ops.square(ops.sum(vectors, axis=1))
        sq_sum = ops.sum(ops.square(vectors), axis=1)
        cross = 0.5 * (sum_sq - sq_sum)
        return (self.offset + first_order
                + ops.sum(cross, axis=-1, keepdims=True)
                + self.tower(cross, training=training))


class EpochLine(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1:2d}  rmse {logs['rmse']:.4f}  val_rmse {logs['val_rmse']:.4f}")


def main():
    keras.utils.set_random_seed(17)
    rng = np.random.default_rng(17)
    ids, rating = simulate_log(24000, rng)
    cut_val, cut_test = 18000, 21000
    part = lambda lo, hi: ({k: v[lo:hi] for k, v in ids.items()}, rating[lo:hi])
    train, val, test = part(0, cut_val), part(cut_val, cut_test), part(cut_test, None)

    model = FactorTower(FIELDS, offset=float(train[1].mean()))
    model.compile(
        optimizer=keras.optimizers.Adam(1e-2),
        loss="mse",
        metrics=[keras.metrics.RootMeanSquaredError(name="rmse")],
    )
    model.fit(
        *train,
        batch_size=256,
        epochs=15,
        validation_data=val,
        callbacks=[EpochLine(),
                   keras.callbacks.ReduceLROnPlateau("val_rmse", factor=0.3, patience=1, mode="min"),
                   keras.callbacks.EarlyStopping("val_rmse", patience=4, mode="min",
                                                 restore_best_weights=True)],
        verbose=0,
    )

    pred = np.clip(model.predict(test[0], batch_size=1024, verbose=0)[:, 0], 1, 5)
    rmse = float(np.sqrt(np.mean((pred - test[1]) ** 2)))
    base = float(np.sqrt(np.mean((train[1].mean() - test[1]) ** 2)))
    print(f"test rmse {rmse:.4f}   global-mean rmse {base:.4f}")


if __name__ == "__main__":
    main()
