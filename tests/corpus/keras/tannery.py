import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(2)

data = load_digits()
x = (data.data / 16.0).astype("float32")
y = data.target
order = np.random.permutation(len(x))
x, y = x[order], y[order]
x_train, y_train, x_test, y_test = x[:1440], y[:1440], x[1440:], y[1440:]

MICRO, ACCUM, EPOCHS, DECAY = 8, 4, 12, 0.97


def build():
    return keras.Sequential([
        keras.Input((64,)),
        layers.Dense(96, activation="gelu"),
        layers.Dropout(0.2),
        layers.Dense(10),
    ])


model, ema = build(), build()
ema.set_weights(model.get_weights())
ema.trainable = False

ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(len(x_train)).batch(MICRO, drop_remainder=True)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(0.3, momentum=0.8, nesterov=True)
optimizer.build(model.trainable_variables)
buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(images, targets):
    with tf.GradientTape() as tape:
        loss = loss_fn(targets, model(images, training=True))
    for buf, g in zip(buffers, tape.gradient(loss, model.trainable_variables)):
        buf.assign_add(g / ACCUM)
    return loss


@tf.function
def update():
    clipped, norm = tf.clip_by_global_norm([tf.convert_to_tensor(b) for b in buffers], 2.0)
    optimizer.apply_gradients(zip(clipped, model.trainable_variables))
    for buf in buffers:
        buf.assign(tf.zeros_like(buf))
    for slow, fast in zip(ema.variables, model.variables):
        if slow.dtype == "float32":
            slow.assign(DECAY * slow + (1 - DECAY) * fast)
    return norm


for epoch in range(EPOCHS):
    total, count = 0.0, 0
    for i, (images, targets) in enumerate(ds):
        total += float(micro_step(images, targets))
        count += 1
        if (i + 1) % ACCUM == 0:
            update()
    plain = (model(x_test, training=False).numpy().argmax(1) == y_test).mean()
    smooth = (ema(x_test, training=False).numpy().argmax(1) == y_test).mean()
    print(f"epoch {epoch + 1:2d} loss {total / count:.4f} test {plain:.4f} ema {smooth:.4f}")
