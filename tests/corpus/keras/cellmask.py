import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(5)
SIZE = 24
MICRO = 8
ACCUM = 4


def make_cells(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    images = np.zeros((n, SIZE, SIZE, 1), "float32")
    masks = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        for _ in range(rng.integers(1, 4)):
            cx, cy = rng.uniform(4, SIZE - 4, 2)
            a, b = rng.uniform(2.5, 5.5, 2)
            inside = ((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2 < 1
            masks[i, ..., 0][inside] = 1
        images[i, ..., 0] = masks[i, ..., 0] * rng.uniform(0.6, 1.0)
    images += rng.normal(0, 0.35, images.shape)
    return (images - images.mean()) / images.std(), masks


def conv(x, filters, dilation=1):
    return layers.Conv2D(filters, 3, padding="same", dilation_rate=dilation,
                         activation="sigmoid")(x)


def build_net(depth=10, filters=12):
    inp = keras.Input((SIZE, SIZE, 1))
    x = inp
    for d in range(depth):
        x = conv(x, filters, dilation=2 if d % 3 == 2 else 1)
    out = layers.Conv2D(1, 1)(x)
    return keras.Model(inp, out)


bce = keras.losses.BinaryCrossentropy(from_logits=True)


class Accumulator:
    def __init__(self, variables):
        self.variables = variables
        self.buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]

    def add(self, grads):
        for b, g in zip(self.buffers, grads):
            b.assign_add(g / ACCUM)

    def flush(self, optimizer):
        optimizer.apply_gradients([(tf.convert_to_tensor(b), v)
                                   for b, v in zip(self.buffers, self.variables)])
        for b in self.buffers:
            b.assign(tf.zeros_like(b))


model = build_net()
optimizer = keras.optimizers.Adam(2e-3)
optimizer.build(model.trainable_variables)
acc = Accumulator(model.trainable_variables)


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = bce(y, model(x, training=True))
    acc.add(tape.gradient(loss, model.trainable_variables))
    return loss


@tf.function
def apply_step():
    acc.flush(optimizer)


def iou(logits, masks):
    p = logits > 0
    m = masks > 0.5
    return (p & m).sum() / max((p | m).sum(), 1)


x_train, y_train = make_cells(384, 0)
x_test, y_test = make_cells(96, 1)
data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(384, seed=1).batch(MICRO)

for epoch in range(8):
    losses = []
    for i, (xb, yb) in enumerate(data):
        losses.append(float(micro_step(xb, yb)))
        if (i + 1) % ACCUM == 0:
            apply_step()
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")

logits = model.predict(x_test, verbose=0)
print("foreground share", round(float(y_test.mean()), 3))
print(f"test loss {float(bce(y_test, logits)):.4f}  pixel accuracy "
      f"{np.mean((logits > 0) == (y_test > 0.5)):.4f}  IoU {iou(logits, y_test):.4f}")
