import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tensorflow import keras


class FourierFeatures(keras.layers.Layer):
    def __init__(self, count, gamma, **kw):
        super().__init__(**kw)
        self.count = count
        self.gamma = gamma

    def build(self, shape):
        self.w = self.add_weight(
            name="w",
            shape=(shape[-1], self.count),
            initializer=keras.initializers.RandomNormal(0.0, np.sqrt(2 * self.gamma), seed=1),
            trainable=False,
        )
        self.b = self.add_weight(
            name="b",
            shape=(self.count,),
            initializer=keras.initializers.RandomUniform(0.0, 2 * np.pi, seed=2),
            trainable=False,
        )

    def call(self, x):
        return np.sqrt(2.0) * keras.ops.cos(keras.ops.matmul(x, self.w) + self.b)


def kernel_machine(classes, count=1500, gamma=0.02):
    return keras.Sequential(
        [
            keras.Input((64,), dtype="uint8"),
            keras.layers.Rescaling(1 / 4.0),
            FourierFeatures(count, gamma),
            keras.layers.Dense(classes, kernel_initializer="zeros"),
        ]
    )


def squared_hinge_targets(y, classes):
    signs = -np.ones((len(y), classes), "float32")
    signs[np.arange(len(y)), y] = 1.0
    return signs


def main():
    keras.utils.set_random_seed(0)
    data = load_digits()
    x = data.data.astype("uint8")
    x_tr, x_te, y_tr, y_te = train_test_split(x, data.target, test_size=0.3, stratify=data.target, random_state=4)

    order = np.argsort(y_tr, kind="stable")
    x_tr, y_tr = x_tr[order], y_tr[order]

    model = kernel_machine(10)
    model.compile(
        optimizer=keras.optimizers.SGD(0.002, momentum=0.9),
        loss="squared_hinge",
    )
    before = (model.predict(x_te, verbose=0).argmax(1) == y_te).mean()
    model.fit(
        x_tr,
        squared_hinge_targets(y_tr, 10),
        batch_size=len(x_tr),
        shuffle=False,
        epochs=150,
        verbose=0,
        callbacks=[
            keras.callbacks.LambdaCallback(
                on_epoch_end=lambda e, logs: print(f"pass {e + 1} loss {logs['loss']:.4f}") if e % 25 == 24 else None
            )
        ],
    )
    frozen = sum(int(np.prod(w.shape)) for w in model.non_trainable_weights)
    free = sum(int(np.prod(w.shape)) for w in model.trainable_weights)
    acc = (model.predict(x_te, verbose=0).argmax(1) == y_te).mean()
    print(f"fixed weights {frozen}, learned weights {free}")
    print(f"test accuracy before {before:.3f} after {acc:.3f}")


if __name__ == "__main__":
    main()
