import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(11)


class DigitCodec:
    """Compress 8x8 digits to a short code and restore them."""

    def __init__(self, code_size=12, lr=2e-3, epochs=40, batch_size=64):
        self.code_size = code_size
        self.lr = lr
        self.epochs = epochs
        self.batch_size = batch_size
        self._build()

    def _build(self):
        inp = keras.Input((64,))
        h = layers.Dense(96, activation="relu")(inp)
        code = layers.Dense(self.code_size, name="code")(h)
        h = layers.Dense(96, activation="relu")(code)
        out = layers.Dense(64, activation="sigmoid")(h)
        self.encoder = keras.Model(inp, code)
        self.model = keras.Model(inp, out)
        self.model.compile(
            optimizer=keras.optimizers.Adam(self.lr),
            loss="binary_crossentropy",
            metrics=["mse"],
        )

    def fit(self, x, x_val):
        stop = keras.callbacks.EarlyStopping(
            monitor="val_loss", patience=6, restore_best_weights=True
        )
        self.history = self.model.fit(
            x, x,
            validation_data=(x_val, x_val),
            epochs=self.epochs,
            batch_size=self.batch_size,
            callbacks=[stop],
            verbose=2,
        )
        return self

    def encode(self, x):
        return self.encoder.predict(x, verbose=0)

    def restore(self, x):
        return self.model.predict(x, verbose=0)


def load():
    bunch = load_digits()
    images = bunch.images.reshape(len(bunch.images), -1).astype("float32") / 16.0
    return train_test_split(
        images, bunch.target, test_size=0.2, random_state=0, stratify=bunch.target
    )


def explained(x, restored):
    return 1.0 - ((x - restored) ** 2).sum() / ((x - x.mean(0)) ** 2).sum()


def main():
    x_tr, x_te, y_tr, y_te = load()
    print("train", x_tr.shape, "test", x_te.shape)
    codec = DigitCodec().fit(x_tr[:-200], x_tr[-200:])

    share = explained(x_te, codec.restore(x_te))
    probe = LogisticRegression(max_iter=500)
    probe.fit(codec.encode(x_tr), y_tr)
    acc = probe.score(codec.encode(x_te), y_te)
    print(f"final val loss          {codec.history.history['val_loss'][-1]:.4f}")
    print(f"explained variance      {share:.3f}")
    print(f"probe accuracy on codes {acc:.3f}")


if __name__ == "__main__":
    main()
