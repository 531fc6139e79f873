import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold

SETTINGS = {
    "folds": 3,
    "epochs": 40,
    "batch_size": 16,
    "lr": 0.05,
    "hidden": [24, 12],
}


class CellarClassifier:
    def __init__(self, settings):
        self.s = settings
        self.scaling = layers.Normalization(axis=-1, name="scaling")
        self.model = None

    def _build(self, n_features, n_classes):
        inputs = keras.Input((n_features,), name="chemistry")
        h = self.scaling(inputs)
        for i, width in enumerate(self.s["hidden"]):
            h = layers.Dense(width, activation="relu", name=f"h{i}")(h)
        probs = layers.Dense(n_classes, activation="softmax", name="cultivar")(h)
        return keras.Model(inputs, probs)

    def fit(self, x, y):
        self.scaling.adapt(x)
        self.model = self._build(x.shape[1], len(np.unique(y)))
        steps = self.s["epochs"] * int(np.ceil(len(x) / self.s["batch_size"]))
        schedule = keras.optimizers.schedules.CosineDecay(self.s["lr"], decay_steps=steps)
        self.model.compile(
            optimizer=keras.optimizers.SGD(schedule, momentum=0.5),
            loss="sparse_categorical_crossentropy",
            metrics=["accuracy"],
        )
        self.history = self.model.fit(
            x, y,
            epochs=self.s["epochs"],
            batch_size=self.s["batch_size"],
            verbose=0,
        )
        return self

    def score(self, x, y):
        return self.model.evaluate(x, y, verbose=0)


def run():
    keras.utils.set_random_seed(8)
    x, y = load_wine(return_X_y=True)
    x = x.astype("float32")
    kf = StratifiedKFold(n_splits=SETTINGS["folds"], shuffle=True, random_state=8)
    scores = []
    for fold, (tr, te) in enumerate(kf.split(x, y)):
        clf = CellarClassifier(SETTINGS).fit(x[tr], y[tr])
        loss, acc = clf.score(x[te], y[te])
        scores.append((loss, acc))
        final = clf.history.history["loss"][-1]
        print(f"fold {fold}: train loss {final:.4f}  test loss {loss:.4f}  accuracy {acc:.3f}")
    scores = np.array(scores)
    majority = np.bincount(y).max() / len(y)
    print(f"mean loss {scores[:, 0].mean():.4f}  mean accuracy {scores[:, 1].mean():.3f}  majority {majority:.3f}")


if __name__ == "__main__":
    run()
