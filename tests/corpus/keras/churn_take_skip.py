import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers

N_ROWS, N_FEATURES, N_VALID = 1400, 20, 280


def customers(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, N_FEATURES)).astype("float32")
    score = 1.2 * x[:, 0] - x[:, 1] + 0.8 * x[:, 2] * x[:, 3]
    churned = score > 0
    flipped = rng.random(n) < 0.15
    return x, (churned ^ flipped).astype("int32")


def input_pipelines(x, y, batch_size):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(len(x), seed=13)
    valid = ds.take(N_VALID).batch(batch_size)
    train = ds.skip(N_VALID).batch(batch_size)
    return train.prefetch(2), valid


def network(hidden):
    model = tf_keras.Sequential(name="churn")
    model.add(layers.InputLayer((N_FEATURES,)))
    for width in hidden:
        model.add(layers.Dense(width, activation="relu"))
    model.add(layers.Dense(1, activation="sigmoid"))
    model.compile(
        optimizer=tf_keras.optimizers.Adam(1.5e-3),
        loss="binary_crossentropy",
        metrics=["accuracy", tf_keras.metrics.AUC(name="auc")],
    )
    return model


class EveryTen(tf_keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % 10 == 0:
            print(epoch + 1, {k: round(v, 3) for k, v in logs.items()})


def main():
    tf_keras.utils.set_random_seed(13)
    x, y = customers(N_ROWS, 1)
    train, valid = input_pipelines(x, y, 32)
    model = network([96, 48])
    stopper = tf_keras.callbacks.EarlyStopping(
        monitor="val_loss", patience=8, restore_best_weights=True
    )
    model.fit(train, validation_data=valid, epochs=50, callbacks=[stopper, EveryTen()], verbose=0)

    _, val_acc, val_auc = model.evaluate(valid, verbose=0)
    x_new, y_new = customers(3000, 2)
    _, new_acc, new_auc = model.evaluate(x_new, y_new, verbose=0)
    print(f"validation: accuracy {val_acc:.3f} auc {val_auc:.3f}")
    print(f"next quarter: accuracy {new_acc:.3f} auc {new_auc:.3f}")


if __name__ == "__main__":
    main()
