"""Random fixed filter bank plus a trained head, gradients summed over micro-batches, 240 tiles only."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
MICRO, ACCUM = 6, 4


def tile(kind):
    yy, xx = np.mgrid[:24, :24]
    ang = [0, 0.8, 1.6, 2.4][kind] + rng.normal(0, 0.08)
    wave = np.sin(1.1 * (np.cos(ang) * xx + np.sin(ang) * yy) + rng.uniform(0, 6.28))
    return wave + rng.normal(0, 0.7, wave.shape)


def make(n):
    y = np.arange(n) % 4
    return np.stack([tile(k) for k in y])[..., None].astype("float32"), y.astype("int32")


x, y = make(240)
xt, yt = make(400)

bank = keras.Sequential([
    keras.Input((24, 24, 1)),
    layers.Conv2D(64, 7, activation="relu"),
    layers.GlobalAveragePooling2D(),
], name="bank")
bank.trainable = False
head = keras.Sequential([layers.Dense(4, kernel_regularizer=keras.regularizers.L2(1e-4))], name="head")
norm = layers.Normalization()
norm.adapt(bank.predict(x, verbose=0))
model = keras.Sequential([bank, norm, head])
print("trainable", sum(int(np.prod(v.shape)) for v in model.trainable_variables),
      "of", model.count_params())

opt = keras.optimizers.SGD(0.1, momentum=0.9)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
acc_grads = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]


@tf.function
def micro(xb, yb):
    with tf.GradientTape() as tape:
        loss = (ce(yb, model(xb, training=True)) + sum(model.losses)) / ACCUM
    for a, g in zip(acc_grads, tape.gradient(loss, model.trainable_variables)):
        a.assign_add(g)
    return loss * ACCUM


@tf.function
def update():
    opt.apply_gradients([(a, v) for a, v in zip(acc_grads, model.trainable_variables)])
    for a in acc_grads:
        a.assign(tf.zeros_like(a))


before = bank.get_weights()[0].copy()
for epoch in range(40):
    order, losses = rng.permutation(len(x)), []
    for i, start in enumerate(range(0, len(x), MICRO)):
        idx = order[start:start + MICRO]
        losses.append(float(micro(tf.constant(x[idx]), tf.constant(y[idx]))))
        if (i + 1) % ACCUM == 0:
            update()
    if epoch % 8 == 7:
        acc = (model.predict(xt, verbose=0).argmax(1) == yt).mean()
        print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} test acc {acc:.3f}")
print("bank unchanged:", np.array_equal(before, bank.get_weights()[0]))
