import keras
import numpy as np
from keras import layers
from sklearn.metrics import average_precision_score, roc_auc_score


def transactions(n, rng, rate=0.03):
    y = (rng.random(n) < rate).astype("float32")
    x = rng.normal(size=(n, 16))
    x[:, 0] += 1.6 * y
    x[:, 3] -= 1.3 * y
    x[:, 5] *= 1 + 1.5 * y
    x[:, 8] = np.where(y > 0, -x[:, 0] * 0.7 + 0.5 * x[:, 8], x[:, 8])
    return x.astype("float32"), y


class Log(keras.callbacks.Callback):
    def __init__(self, tag):
        super().__init__()
        self.tag = tag

    def on_train_end(self, logs=None):
        n = sum(int(np.prod(w.shape)) for w in self.model.trainable_variables)
        shown = "  ".join(f"{k} {v:.4f}" for k, v in (logs or {}).items())
        print(f"{self.tag}: {n} trainable numbers  {shown}")


def main():
    keras.utils.set_random_seed(90)
    rng = np.random.default_rng(90)
    x_pool, _ = transactions(6000, rng)
    x_tr, y_tr = transactions(5000, rng)
    x_te, y_te = transactions(4000, rng)

    inp = keras.Input((16,))
    encoder = keras.Model(inp, layers.Dense(24, activation="elu")(layers.Dense(32, activation="elu")(inp)))
    auto = keras.Model(inp, layers.Dense(16)(encoder(inp)))
    auto.compile("adam", "mse")
    auto.fit(x_pool, x_pool, epochs=5, batch_size=64, verbose=0, callbacks=[Log("reconstruct")])

    pos = y_tr.mean()
    prior = keras.initializers.Constant(float(np.log(pos / (1 - pos))))
    score = layers.Dense(1, bias_initializer=prior, name="score")(encoder(inp, training=False))
    model = keras.Model(inp, score)

    encoder.trainable = False
    bce = keras.losses.BinaryCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(1e-2), loss=bce)
    model.fit(x_tr, y_tr[:, None], epochs=3, batch_size=128, verbose=0, callbacks=[Log("head only")])
    frozen = average_precision_score(y_te, model.predict(x_te, verbose=0)[:, 0])

    encoder.trainable = True
    model.compile(keras.optimizers.Adam(1e-3), loss=bce)
    model.fit(x_tr, y_tr[:, None], epochs=6, batch_size=128, verbose=0, callbacks=[Log("everything")])
    logits = model.predict(x_te, verbose=0)[:, 0]

    print(f"fraud share {y_te.mean():.3f}   test loss {model.evaluate(x_te, y_te[:, None], verbose=0):.4f}")
    print(f"average precision {frozen:.3f} -> {average_precision_score(y_te, logits):.3f}   roc auc {roc_auc_score(y_te, logits):.3f}")


if __name__ == "__main__":
    main()
