import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import tf_keras as keras
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold

EPOCHS = 25
BATCH = 32


def corrupt(x, rng, sigma=0.25, drop=0.1):
    noisy = x + rng.normal(0, sigma, x.shape)
    noisy[rng.random(x.shape) < drop] = 0.0
    return noisy.astype("float32")


def make_denoiser(width=64):
    reg = keras.Sequential(
        [
            keras.layers.Input((width,)),
            keras.layers.Dense(96, activation="relu"),
            keras.layers.Dense(40, activation="relu"),
            keras.layers.Dense(96, activation="relu"),
            keras.layers.Dense(width),
        ]
    )
    opt = keras.optimizers.SGD(learning_rate=0.8, momentum=0.9, nesterov=True)
    reg.compile(optimizer=opt, loss="mse")
    return reg


class ShowEvery(keras.callbacks.Callback):
    def __init__(self, every):
        super().__init__()
        self.every = every

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            print(f"  epoch {epoch + 1:3d}  mse {logs['loss']:.5f}  val {logs['val_loss']:.5f}")


def explained(clean, restored):
    resid = ((clean - restored) ** 2).sum()
    total = ((clean - clean.mean(axis=0)) ** 2).sum()
    return 1.0 - resid / total


def main():
    keras.utils.set_random_seed(17)
    rng = np.random.default_rng(17)
    scans = (load_digits().data / 16.0).astype("float32")

    scores, raw = [], []
    for fold, (tr, te) in enumerate(KFold(3, shuffle=True, random_state=0).split(scans)):
        print("fold", fold)
        noisy_tr, noisy_te = corrupt(scans[tr], rng), corrupt(scans[te], rng)
        feed = (
            tf.data.Dataset.from_tensor_slices((noisy_tr, scans[tr]))
            .shuffle(len(tr), seed=fold)
            .batch(BATCH, drop_remainder=True)
        )
        net = make_denoiser()
        net.fit(
            feed,
            validation_data=(noisy_te, scans[te]),
            epochs=EPOCHS,
            callbacks=[ShowEvery(5)],
            verbose=0,
        )
        restored = net.predict(noisy_te, verbose=0)
        scores.append(explained(scans[te], restored))
        raw.append(explained(scans[te], noisy_te))

    print("explained variance without a model:", np.round(np.mean(raw), 3))
    print("explained variance of the denoiser:", np.round(np.mean(scores), 3))


if __name__ == "__main__":
    main()
