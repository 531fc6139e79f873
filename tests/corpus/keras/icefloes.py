import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)


def floe_patch(kind):
    base = rng.normal(128, 12, (16, 16))
    if kind == 0:
        base[:, ::4] += 11
    elif kind == 1:
        base[::4, :] += 11
    elif kind == 2:
        base[(np.add.outer(np.arange(16), np.arange(16)) % 4) == 0] += 11
    else:
        base[::4, ::4] += 20
    return base[..., None]


labels = rng.integers(0, 4, 1600)
patches = np.stack([floe_patch(k) for k in labels]).astype("float32")
patches = (patches - patches[:800].mean()) / patches[:800].std()
train = tf.data.Dataset.from_tensor_slices((patches[:800], labels[:800])).shuffle(800).batch(32)
test = tf.data.Dataset.from_tensor_slices((patches[800:], labels[800:])).batch(100)


def conv_block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.ReLU()(x)


inputs = keras.Input((16, 16, 1))
x = inputs
for filters in [16, 16, 32]:
    x = conv_block(x, filters)
    x = conv_block(x, filters)
    x = layers.MaxPooling2D()(x)
x = layers.Flatten()(x)
x = layers.Dense(64, activation="relu")(x)
x = layers.Dropout(0.5)(x)
outputs = layers.Dense(4)(x)
model = keras.Model(inputs, outputs)

loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(0.003, momentum=0.9)
train_acc = keras.metrics.SparseCategoricalAccuracy()
test_acc = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(images, targets):
    with tf.GradientTape() as tape:
        logits = model(images)
        loss = loss_fn(targets, logits)
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    train_acc.update_state(targets, logits)
    return loss


@tf.function
def test_step(images, targets):
    test_acc.update_state(targets, model(images, training=False))


for epoch in range(10):
    train_acc.reset_state()
    test_acc.reset_state()
    for images, targets in train:
        loss = train_step(images, targets)
    for images, targets in test:
        test_step(images, targets)
    print(f"epoch {epoch + 1} loss {float(loss):.4f} train {float(train_acc.result()):.3f} "
          f"test {float(test_acc.result()):.3f}")
