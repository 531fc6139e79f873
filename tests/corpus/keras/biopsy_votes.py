import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import QuantileTransformer
from tensorflow import keras
from tensorflow.keras import layers

PARAMS = dict(units=64, drop=0.5, epochs=60, batch=32, lr=2e-3, passes=50)


def net(n_in, params):
    inputs = keras.Input((n_in,))
    x = layers.Dropout(0.1)(inputs)
    for _ in range(2):
        x = layers.Dense(params["units"], activation="selu", kernel_initializer="lecun_normal")(x)
        x = layers.Dropout(params["drop"])(x)
    outputs = layers.Dense(2, activation="softmax")(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(params["lr"]),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


class VotingNet:
    def __init__(self, params):
        self.params = params

    def fit(self, x, y):
        self.scale = QuantileTransformer(n_quantiles=100, output_distribution="normal", random_state=0).fit(x)
        self.model = net(x.shape[1], self.params)
        weight = {k: len(y) / (2 * np.sum(y == k)) for k in (0, 1)}
        self.history = self.model.fit(
            self._clip(x), y, epochs=self.params["epochs"], batch_size=self.params["batch"],
            class_weight=weight, verbose=0,
        ).history
        return self

    def _clip(self, x):
        return np.clip(self.scale.transform(x), -3, 3).astype("float32")

    def votes(self, x):
        z = self._clip(x)
        return np.stack([self.model(z, training=True).numpy() for _ in range(self.params["passes"])])

    def predict_proba(self, x):
        return self.votes(x).mean(axis=0)


def main():
    keras.utils.set_random_seed(19)
    data = load_breast_cancer()
    x, y = data.data, data.target
    rows = []
    for fold, (tr, te) in enumerate(StratifiedKFold(4, shuffle=True, random_state=3).split(x, y), 1):
        clf = VotingNet(PARAMS).fit(x[tr], y[tr])
        votes = clf.votes(x[te])
        proba = votes.mean(axis=0)
        wrong = proba.argmax(1) != y[te]
        doubt = votes[:, :, 1].std(axis=0)
        rows.append((1 - wrong.mean(), log_loss(y[te], proba), doubt[~wrong].mean(),
                     doubt[wrong].mean() if wrong.any() else np.nan))
        print(f"fold {fold}: train loss {clf.history['loss'][-1]:.3f} train acc {clf.history['accuracy'][-1]:.3f} "
              f"held-out acc {rows[-1][0]:.3f} log loss {rows[-1][1]:.3f}")
    acc, ll, sure, unsure = np.nanmean(np.array(rows), axis=0)
    print(f"accuracy {acc:.3f}  log loss {ll:.3f}  majority {y.mean():.3f}")
    print(f"vote spread when right {sure:.3f}  when wrong {unsure:.3f}")


if __name__ == "__main__":
    main()
