import numpy as np
import tensorflow as tf
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class MicroBatchRegressor:
    """Small MLP trained with several micro batches per update."""

    def __init__(self, n_features, micro=16, accumulate=4, lr=0.05):
        self.micro = micro
        self.accumulate = accumulate
        self.model = tf.keras.Sequential([
            tf.keras.layers.Input((n_features,)),
            tf.keras.layers.Dense(24, activation="tanh"),
            tf.keras.layers.Dense(1),
        ])
        self.opt = tf.keras.optimizers.SGD(lr)
        self.buffers = [
            tf.Variable(tf.zeros_like(v), trainable=False)
            for v in self.model.trainable_variables
        ]
        self.opt.build(self.model.trainable_variables)

    @tf.function
    def _accumulate(self, xb, yb):
        with tf.GradientTape() as tape:
            out = self.model(xb, training=True)[:, 0]
            loss = tf.reduce_mean(tf.square(out - yb))
        grads = tape.gradient(loss, self.model.trainable_variables)
        for buf, g in zip(self.buffers, grads):
            buf.assign_add(g / self.accumulate)
        return loss

    @tf.function
    def _update(self):
        self.opt.apply_gradients(
            [(buf.read_value(), v) for buf, v in zip(self.buffers, self.model.trainable_variables)]
        )
        for buf in self.buffers:
            buf.assign(tf.zeros_like(buf))

    def fit(self, x, y, epochs=30):
        ds = tf.data.Dataset.from_tensor_slices((x, y))
        ds = ds.shuffle(len(x), seed=5).batch(self.micro, drop_remainder=True)
        for epoch in range(epochs):
            losses = []
            for step, (xb, yb) in enumerate(ds, start=1):
                losses.append(float(self._accumulate(xb, yb)))
                if step % self.accumulate == 0:
                    self._update()
            if epoch % 5 == 4:
                print(f"epoch {epoch + 1:3d}  mse {np.mean(losses):.4f}")
        return self

    def predict(self, x):
        return self.model(x, training=False).numpy()[:, 0]


def main():
    tf.keras.utils.set_random_seed(21)
    x, y = load_diabetes(return_X_y=True)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=2)
    xs = StandardScaler().fit(x_tr)
    ys = StandardScaler().fit(y_tr[:, None])
    x_tr, x_te = (xs.transform(a).astype("float32") for a in (x_tr, x_te))
    y_tr, y_te = (ys.transform(a[:, None])[:, 0].astype("float32") for a in (y_tr, y_te))

    reg = MicroBatchRegressor(x_tr.shape[1]).fit(x_tr, y_tr)
    err = np.mean((reg.predict(x_te) - y_te) ** 2)
    base = np.mean((y_tr.mean() - y_te) ** 2)
    print(f"test mse {err:.4f}   mean predictor {base:.4f}   r2 {1 - err / base:.3f}")


if __name__ == "__main__":
    main()
