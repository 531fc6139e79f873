import keras
import numpy as np
from keras import layers, ops

CONFIG = dict(queries=300, hotels=8, features=12, lr=0.05, epochs=15, batch=64)


class PairRanker(keras.Model):
    def __init__(self, hidden):
        super().__init__()
        self.body = [layers.Dense(h, activation="relu") for h in hidden]
        self.head = layers.Dense(1)

    def call(self, x):
        for layer in self.body:
            x = layer(x)
        return self.head(x)[..., 0]

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        better = ops.cast(y[:, :, None] > y[:, None, :], "float32")
        margin = y_pred[:, :, None] - y_pred[:, None, :]
        cost = ops.softplus(-margin) * better
        per_query = ops.sum(cost, axis=(1, 2)) / ops.maximum(ops.sum(better, axis=(1, 2)), 1.0)
        return ops.mean(per_query)


def make_sessions(n, rng, taste):
    x = rng.normal(size=(n, CONFIG["hotels"], CONFIG["features"])).astype("float32")
    utility = x @ taste + 0.6 * np.maximum(x[..., 0] * x[..., 1], 0) + rng.normal(0, 0.4, x.shape[:2])
    grade = utility.argsort(axis=1).argsort(axis=1) // 2
    return x, grade.astype("float32")


def ndcg(scores, grades):
    order = np.argsort(-scores, axis=1)
    gains = 2 ** np.take_along_axis(grades, order, axis=1) - 1
    ideal = 2 ** (-np.sort(-grades, axis=1)) - 1
    disc = 1 / np.log2(np.arange(2, scores.shape[1] + 2))
    return float(np.mean((gains * disc).sum(1) / (ideal * disc).sum(1)))


class RankReport(keras.callbacks.Callback):
    def __init__(self, x, g):
        super().__init__()
        self.x, self.g = x, g

    def on_epoch_end(self, epoch, logs=None):
        if epoch % 5 == 4:
            score = ndcg(self.model.predict(self.x, verbose=0), self.g)
            print(f"epoch {epoch + 1:2d}  loss {logs['loss']:.4f}  ndcg {score:.4f}")


def main():
    keras.utils.set_random_seed(14)
    rng = np.random.default_rng(14)
    taste = rng.normal(0, 0.5, CONFIG["features"])
    x_tr, g_tr = make_sessions(CONFIG["queries"] * 4, rng, taste)
    x_te, g_te = make_sessions(CONFIG["queries"], rng, taste)

    model = PairRanker([32, 16])
    model.compile(optimizer=keras.optimizers.SGD(CONFIG["lr"], momentum=0.9))
    model.fit(
        x_tr, g_tr,
        batch_size=CONFIG["batch"],
        epochs=CONFIG["epochs"],
        callbacks=[RankReport(x_te, g_te)],
        verbose=0,
    )
    final = ndcg(model.predict(x_te, verbose=0), g_te)
    chance = ndcg(rng.normal(size=g_te.shape), g_te)
    print(f"test ndcg {final:.4f}   random order {chance:.4f}")


if __name__ == "__main__":
    main()
