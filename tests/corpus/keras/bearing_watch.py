"""Bearing monitoring with a tied denoising auto-encoder trained on sound machines only."""
import numpy as np
import keras
from keras import layers, ops
from sklearn.metrics import roc_auc_score

BINS = 64


def spectra(n, rng, faulty=False):
    """Log spectra of vibration windows; a defect adds weak sidebands around harmonics."""
    f = np.arange(BINS)
    speed = rng.uniform(6.0, 8.0, n)
    load = rng.uniform(.5, 1.5, n)
    out = np.zeros((n, BINS))
    for h in range(1, 8):
        height = load[:, None] * 1.6 / h ** .5
        out += height * np.exp(-.5 * ((f - h * speed[:, None]) / .8) ** 2)
        if faulty and h > 1:
            gap = 2.6
            for s in (-gap, gap):
                out += .28 * np.exp(-.5 * ((f - h * speed[:, None] - s) / .7) ** 2)
    out += .5 * load[:, None] * np.exp(-f / 30) + rng.normal(0, .15, out.shape)
    return out.astype("float32")


class TiedDense(layers.Layer):
    """Decoder layer that reuses the transposed kernel of `partner`, with its own bias."""

    def __init__(self, partner, activation=None, **kw):
        super().__init__(**kw)
        self.partner = partner
        self.activation = keras.activations.get(activation)

    def build(self, shape):
        self.bias = self.add_weight(name="bias", shape=(self.partner.kernel.shape[0],),
                                    initializer="zeros")

    def call(self, x):
        return self.activation(ops.matmul(x, ops.transpose(self.partner.kernel)) + self.bias)


class Corrupt(layers.Layer):
    """Gaussian noise plus blanked bands while training; identity afterwards."""

    def __init__(self, sigma, drop, **kw):
        super().__init__(**kw)
        self.sigma, self.drop = sigma, drop
        self.seeds = keras.random.SeedGenerator(4)

    def call(self, x, training=False):
        if not training:
            return x
        keep = keras.random.uniform(ops.shape(x), seed=self.seeds) > self.drop
        return (x + self.sigma * keras.random.normal(ops.shape(x), seed=self.seeds)) * ops.cast(keep, x.dtype)


def autoencoder():
    e1 = layers.Dense(96, activation="elu", name="enc1")
    e2 = layers.Dense(16, name="enc2")
    inp = keras.Input((BINS,))
    x = Corrupt(.15, .15)(inp)
    x = e2(e1(x))
    x = TiedDense(e2, "elu", name="dec2")(x)
    return keras.Model(inp, TiedDense(e1, name="dec1")(x))


def main():
    keras.utils.set_random_seed(23)
    rng = np.random.default_rng(23)
    sound = spectra(5000, rng)
    mu, sd = sound.mean(0), sound.std(0)
    norm = lambda a: (a - mu) / sd
    x_tr, x_va = norm(sound[:4400]), norm(sound[4400:])
    x_te = norm(np.concatenate([spectra(700, rng), spectra(70, rng, faulty=True)]))
    y_te = np.r_[np.zeros(700), np.ones(70)]

    model = autoencoder()
    print("trainable tensors", [w.path for w in model.trainable_weights])
    model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 25 * 69, alpha=.03)),
                  loss="mse")
    model.fit(x_tr, x_tr, batch_size=64, epochs=25, validation_data=(x_va, x_va), verbose=2)

    err = np.square(model.predict(x_te, verbose=0) - x_te).mean(1)
    energy = np.square(x_te).mean(1)
    limit = np.quantile(np.square(model.predict(x_va, verbose=0) - x_va).mean(1), .98)
    flagged = err > limit
    print(f"reconstruction mse on sound windows {err[y_te == 0].mean():.3f} (mean spectrum {energy[y_te == 0].mean():.3f})")
    print(f"alarm AUC {roc_auc_score(y_te, err):.3f}   plain distance to the mean {roc_auc_score(y_te, energy):.3f}")
    print(f"at the 98 % limit: detected {flagged[y_te == 1].mean():.3f}  false alarms {flagged[y_te == 0].mean():.3f}")


if __name__ == "__main__":
    main()
