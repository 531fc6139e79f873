import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIDE, MICRO, ACCUM, EPOCHS = 32, 4, 4, 8
keras.utils.set_random_seed(13)


def scenes(n, seed):
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIDE, :SIDE]
    imgs, masks = [], []
    for _ in range(n):
        img = g.normal(0.0, 0.35, (SIDE, SIDE)) + 0.02 * xx
        mask = np.zeros((SIDE, SIDE), bool)
        for _ in range(g.integers(1, 3)):
            cy, cx = g.uniform(6, SIDE - 6, 2)
            a, b = g.uniform(2.5, 5, 2)
            mask |= ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1
        img[mask] += 0.8
        imgs.append(img)
        masks.append(mask)
    return np.array(imgs, "float32")[..., None], np.array(masks, "float32")[..., None]


def augment(img, mask):
    both = tf.concat([img, mask], axis=-1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    return both[..., :1], both[..., 1:]


def block(x, filters):
    for _ in range(2):
        x = layers.Conv2D(filters, 3, padding="same")(x)
        x = layers.GroupNormalization(4)(x)
        x = layers.Activation("swish")(x)
    return x


def unet():
    inp = keras.Input((SIDE, SIDE, 1))
    a = block(inp, 8)
    b = block(layers.MaxPooling2D()(a), 16)
    c = block(layers.MaxPooling2D()(b), 32)
    x = layers.Concatenate()([layers.UpSampling2D()(c), b])
    x = block(x, 16)
    x = layers.Concatenate()([layers.UpSampling2D()(x), a])
    x = block(x, 8)
    return keras.Model(inp, layers.Conv2D(1, 1, activation="sigmoid")(x))


def dice_loss(y, p):
    inter = tf.reduce_sum(y * p, axis=(1, 2, 3))
    total = tf.reduce_sum(y + p, axis=(1, 2, 3))
    return tf.reduce_mean(1.0 - (2.0 * inter + 1.0) / (total + 1.0))


x_tr, m_tr = scenes(480, 0)
x_va, m_va = scenes(120, 1)
ds = (tf.data.Dataset.from_tensor_slices((x_tr, m_tr)).shuffle(480)
      .map(augment).batch(MICRO, drop_remainder=True).prefetch(2))

net = unet()
opt = keras.optimizers.Adam(4e-3)
opt.build(net.trainable_variables)
store = [tf.Variable(tf.zeros_like(v.value), trainable=False) for v in net.trainable_variables]


@tf.function
def micro_step(x, m):
    with tf.GradientTape() as tape:
        loss = dice_loss(m, net(x, training=True))
    for s, g in zip(store, tape.gradient(loss, net.trainable_variables)):
        s.assign_add(g / ACCUM)
    return loss


@tf.function
def apply_store():
    opt.apply_gradients(zip([s.value() for s in store], net.trainable_variables))
    for s in store:
        s.assign(tf.zeros_like(s))


for epoch in range(EPOCHS):
    losses = []
    for i, (x, m) in enumerate(ds, 1):
        losses.append(float(micro_step(x, m)))
        if i % ACCUM == 0:
            apply_store()
    pred = net.predict(x_va, batch_size=40, verbose=0) > 0.5
    truth = m_va > 0.5
    iou = (pred & truth).sum() / (pred | truth).sum()
    print(f"epoch {epoch + 1}: dice loss {np.mean(losses):.4f}  val IoU {iou:.3f}  "
          f"pixel acc {(pred == truth).mean():.3f} (all background {1 - truth.mean():.3f})")
