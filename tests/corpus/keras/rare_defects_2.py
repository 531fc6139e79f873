import numpy as np
import keras
from keras import layers
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class PrintEvery(keras.callbacks.Callback):
    def __init__(self, every):
        super().__init__()
        self.every = every

    def on_epoch_end(self, epoch, logs=None):
        if epoch % self.every == 0:
            print(epoch, {k: round(float(v), 4) for k, v in logs.items()})


def make_parts(n=6000):
    X, y = make_classification(
        n_samples=n, n_features=16, n_informative=6, n_redundant=2,
        weights=[0.96], class_sep=1.4, flip_y=0.005, random_state=2,
    )
    return X.astype("float32"), y.astype("float32")


def build(n_features, prior):
    log_odds = np.log(prior / (1.0 - prior))
    model = keras.Sequential([
        keras.Input((n_features,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, activation=None, bias_initializer=keras.initializers.Constant(log_odds)),
    ])
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.AUC(curve="PR", from_logits=True, name="pr_auc")],
    )
    return model


def main():
    keras.utils.set_random_seed(2)
    X, y = make_parts()
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, stratify=y, random_state=2)
    scaler = StandardScaler().fit(X_tr)
    X_tr, X_te = scaler.transform(X_tr), scaler.transform(X_te)

    model = build(X.shape[1], float(y_tr.mean()))
    print("loss before training", model.evaluate(X_tr, y_tr, verbose=0)[0])
    stop = keras.callbacks.EarlyStopping(
        monitor="val_pr_auc", mode="max", patience=6, restore_best_weights=True)
    model.fit(X_tr, y_tr, validation_split=0.2, epochs=25, batch_size=128,
              callbacks=[stop, PrintEvery(5)], verbose=0)

    logits = model.predict(X_te, verbose=0).ravel()
    hit = logits > 0.0
    recall = (hit & (y_te == 1)).sum() / (y_te == 1).sum()
    precision = (hit & (y_te == 1)).sum() / max(hit.sum(), 1)
    print(f"defect rate {y_te.mean():.3f}")
    print(f"average precision {average_precision_score(y_te, logits):.4f} "
          f"precision {precision:.3f} recall {recall:.3f}")


if __name__ == "__main__":
    main()
