"""Digits with mixup, soft labels and the Lion optimizer (Keras Sequential)."""
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class MixupBatches(keras.utils.PyDataset):
    """Each batch is a convex blend of two shuffled views of itself; targets are blended too."""

    def __init__(self, x, y, batch, alpha=0.3, seed=0, **kw):
        super().__init__(**kw)
        self.x, self.y, self.batch, self.alpha = x, y, batch, alpha
        self.rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self):
        return len(self.x) // self.batch

    def __getitem__(self, k):
        idx = self.order[k * self.batch:(k + 1) * self.batch]
        other = self.rng.permutation(idx)
        lam = self.rng.beta(self.alpha, self.alpha, size=(len(idx), 1)).astype("float32")
        lam = np.maximum(lam, 1 - lam)
        x = lam[:, :, None, None] * self.x[idx] + (1 - lam)[:, :, None, None] * self.x[other]
        y = lam * self.y[idx] + (1 - lam) * self.y[other]
        return x, y

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.x))


def build():
    reg = keras.regularizers.L2(1e-5)
    model = keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(24, 3, padding="same", kernel_regularizer=reg),
        layers.GroupNormalization(6),
        layers.Activation("silu"),
        layers.Conv2D(48, 3, strides=2, padding="same", kernel_regularizer=reg),
        layers.GroupNormalization(6),
        layers.Activation("silu"),
        layers.GlobalAveragePooling2D(),
        layers.Dropout(0.2),
        layers.Dense(10),
    ])
    model.compile(
        # Lion moves every weight by about the rate itself, so the rate is small and the decay large
        optimizer=keras.optimizers.Lion(learning_rate=8e-4, weight_decay=0.02),
        loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.05),
        metrics=["accuracy"],
    )
    return model


def main():
    keras.utils.set_random_seed(12)
    bunch = load_digits()
    x = (bunch.images / 16.0).astype("float32")[..., None]
    y = bunch.target
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, random_state=0, stratify=y)
    x_tr, x_va, y_tr, y_va = train_test_split(x_tr, y_tr, test_size=0.2, random_state=0, stratify=y_tr)
    hot = lambda v: np.eye(10, dtype="float32")[v]

    model = build()
    schedule = keras.callbacks.LearningRateScheduler(
        lambda epoch, lr: 8e-4 * (min(1.0, (epoch + 1) / 3) if epoch < 13 else 0.2))
    hist = model.fit(MixupBatches(x_tr, hot(y_tr), 32), validation_data=(x_va, hot(y_va)),
                     epochs=18, verbose=0, callbacks=[schedule])
    for e in range(1, 18, 4):
        print("epoch %2d  mixed accuracy %.3f  validation accuracy %.3f"
              % (e + 1, hist.history["accuracy"][e], hist.history["val_accuracy"][e]))
    test = model.evaluate(x_te, hot(y_te), verbose=0, return_dict=True)
    print("test accuracy %.3f (majority %.3f)" % (test["accuracy"], np.bincount(y_te).max() / len(y_te)))


if __name__ == "__main__":
    main()
