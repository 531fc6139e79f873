import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(23)

MICRO = 8
ACCUM = 4
EPOCHS = 60


def data():
    x, y = load_diabetes(return_X_y=True, scaled=False)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=3)
    mu, sd = x_tr.mean(0), x_tr.std(0)
    scale = (y_tr.mean(), y_tr.std())
    prep = lambda v: ((v - mu) / sd).astype("float32")
    target = lambda v: ((v - scale[0]) / scale[1]).astype("float32")
    return prep(x_tr), target(y_tr), prep(x_te), y_te, scale


def build(n):
    reg = keras.regularizers.L2(1e-3)
    return keras.Sequential([
        keras.Input((n,)),
        layers.Dense(32, activation="tanh", kernel_regularizer=reg),
        layers.Dropout(0.1),
        layers.Dense(1, kernel_regularizer=reg),
        layers.Reshape(()),
    ])


model = build(10)
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)
store = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def backward(xb, yb):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        sse = tf.reduce_sum(tf.square(yb - pred))
        loss = sse / (MICRO * ACCUM) + tf.add_n(model.losses) / ACCUM
    for acc, g in zip(store, tape.gradient(loss, model.trainable_variables)):
        acc.assign_add(g)
    return sse


@tf.function
def update():
    optimizer.apply_gradients(zip([a.value() for a in store], model.trainable_variables))
    for a in store:
        a.assign(tf.zeros_like(a))


def main():
    x_tr, y_tr, x_te, y_te, (mean, std) = data()
    rng = np.random.default_rng(0)
    usable = len(x_tr) // (MICRO * ACCUM) * MICRO * ACCUM
    for epoch in range(EPOCHS):
        order = rng.permutation(len(x_tr))[:usable]
        total = 0.0
        for i, s in enumerate(range(0, usable, MICRO)):
            rows = order[s:s + MICRO]
            total += float(backward(tf.constant(x_tr[rows]), tf.constant(y_tr[rows])))
            if (i + 1) % ACCUM == 0:
                update()
        if (epoch + 1) % 10 == 0:
            print(f"epoch {epoch + 1:3d} train mse {total / usable:.4f}")

    pred = model(x_te, training=False).numpy() * std + mean
    mae = np.abs(pred - y_te).mean()
    r2 = 1 - ((pred - y_te) ** 2).sum() / ((y_te - y_te.mean()) ** 2).sum()
    print(f"test mae {mae:.1f} (mean predictor {np.abs(y_te - mean).mean():.1f})  r2 {r2:.3f}")


if __name__ == "__main__":
    main()
