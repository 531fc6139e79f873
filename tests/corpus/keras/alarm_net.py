import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import recall_score, roc_auc_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(31)

HP = dict(hidden=(32, 16), lr=0.1, momentum=0.9, epochs=15, batch=32)


def split():
    x, y = load_breast_cancer(return_X_y=True)
    return train_test_split(x.astype("float32"), 1 - y, test_size=0.25, random_state=6, stratify=y)


def as_dataset(x, y, batch, train):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if train:
        ds = ds.shuffle(len(x), seed=6, reshuffle_each_iteration=True)
    return ds.batch(batch, drop_remainder=train).prefetch(2)


def build(x_tr, hp):
    scale = layers.Normalization()
    scale.adapt(x_tr)
    inp = keras.Input((x_tr.shape[1],))
    h = scale(inp)
    for units in hp["hidden"]:
        h = layers.Dense(units, use_bias=False)(h)
        h = layers.BatchNormalization(momentum=0.9)(h)
        h = layers.Activation("relu")(h)
    out = layers.Dense(1)(h)
    model = keras.Model(inp, out)
    steps = hp["epochs"] * (len(x_tr) // hp["batch"])
    model.compile(
        optimizer=keras.optimizers.SGD(
            keras.optimizers.schedules.CosineDecay(hp["lr"], steps), momentum=hp["momentum"]),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc"),
                 keras.metrics.AUC(from_logits=True, name="auc")],
    )
    return model


def main():
    x_tr, x_te, y_tr, y_te = split()
    print("feature ranges", x_tr.min(), x_tr.max(), "positives", y_tr.mean().round(3))
    model = build(x_tr, HP)
    model.fit(
        as_dataset(x_tr, y_tr, HP["batch"], True),
        validation_data=as_dataset(x_te, y_te, 128, False),
        epochs=HP["epochs"],
        shuffle=False,
        verbose=2,
    )
    score = model.predict(x_te, verbose=0)[:, 0]
    pred = (score > 0).astype(int)
    print(f"score range {score.min():.2f} .. {score.max():.2f}")
    print(f"test accuracy {(pred == y_te).mean():.3f}  recall {recall_score(y_te, pred):.3f}"
          f"  auc {roc_auc_score(y_te, score):.3f}  majority {1 - y_te.mean():.3f}")


if __name__ == "__main__":
    main()
