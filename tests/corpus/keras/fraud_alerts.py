"""Rare-event detection on card transactions: focal loss, prior-initialised bias, class weights."""
import numpy as np
import keras
from keras import layers
from sklearn.metrics import average_precision_score, roc_auc_score


def transactions(n, seed):
    rng = np.random.default_rng(seed)
    amount = rng.lognormal(3.2, 1.0, n)
    hour = rng.integers(0, 24, n)
    country = rng.choice(8, n, p=[0.5, 0.2, 0.1, 0.06, 0.05, 0.04, 0.03, 0.02])
    merchant = rng.integers(0, 20, n)
    velocity = rng.poisson(1.5, n).astype(float)
    age = rng.exponential(400, n)
    logit = -15.0 + 1.6 * np.log(amount) + 1.5 * (hour < 6) + 1.2 * velocity
    logit += np.where(country >= 5, 2.5, 0) + np.where(merchant % 7 == 3, 2.5, 0) - 0.002 * age
    logit += 1.2 * ((np.log(amount) > 4) & (velocity > 3))
    y = rng.random(n) < 1 / (1 + np.exp(-logit))
    num = np.stack([np.log(amount), np.sin(hour / 12 * np.pi), np.cos(hour / 12 * np.pi), velocity, np.log1p(age)], 1)
    return {"num": num.astype("float32"), "country": country.astype("int32"),
            "merchant": merchant.astype("int32")}, y.astype("float32")


def build(norm, prior):
    num = keras.Input((5,), name="num")
    country = keras.Input((), dtype="int32", name="country")
    merchant = keras.Input((), dtype="int32", name="merchant")
    h = layers.Concatenate()([
        norm(num),
        layers.Embedding(8, 3)(country),
        layers.Embedding(20, 4)(merchant),
    ])
    h = layers.Dense(48, activation="selu", kernel_initializer="lecun_normal")(h)
    h = layers.AlphaDropout(0.05)(h)
    h = layers.Dense(24, activation="selu", kernel_initializer="lecun_normal")(h)
    out = layers.Dense(1, activation="sigmoid",
                       bias_initializer=keras.initializers.Constant(np.log(prior / (1 - prior))))(h)
    return keras.Model([num, country, merchant], out)


class PrAuc(keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y

    def on_epoch_end(self, epoch, logs=None):
        s = self.model.predict(self.x, batch_size=2048, verbose=0)[:, 0]
        logs["val_ap"] = average_precision_score(self.y, s)
        print(f"epoch {epoch + 1}: loss {logs['loss']:.5f} val AP {logs['val_ap']:.3f}")


if __name__ == "__main__":
    keras.utils.set_random_seed(8)
    x, y = transactions(30000, 0)
    xv, yv = transactions(8000, 1)
    xt, yt = transactions(12000, 2)
    prior = y.mean()
    print(f"positives: train {y.mean():.4f} val {yv.mean():.4f} test {yt.mean():.4f}")

    norm = layers.Normalization()
    norm.adapt(x["num"])
    model = build(norm, prior)
    model.compile(
        keras.optimizers.Nadam(1e-3),
        loss=keras.losses.BinaryFocalCrossentropy(gamma=2.0),
    )
    # mild reweighting: square root of the inverse frequency
    weight = {0: 1.0, 1: float(np.sqrt((1 - prior) / prior))}
    model.fit(
        x, y[:, None], batch_size=256, epochs=8, class_weight=weight, verbose=0,
        callbacks=[
            PrAuc(xv, yv),
            keras.callbacks.EarlyStopping("val_ap", mode="max", patience=3, restore_best_weights=True),
        ],
    )
    s = model.predict(xt, batch_size=2048, verbose=0)[:, 0]
    print("test accuracy at 0.5: %.4f (always-negative %.4f)" % (np.mean((s > 0.5) == yt), 1 - yt.mean()))
    print("test AP %.3f (random %.3f)  ROC AUC %.3f" % (average_precision_score(yt, s), yt.mean(), roc_auc_score(yt, s)))
    top = np.argsort(-s)[:200]
    print("precision in the 200 highest alerts: %.3f" % yt[top].mean())
