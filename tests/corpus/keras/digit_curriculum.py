"""Small digit reader with an easy-to-hard curriculum, cutout + mixup, heavy dropout, smoothed labels
and averaged weights for evaluation. Accuracy on the training stream is meant to look poor."""
import dataclasses

import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


@dataclasses.dataclass
class Cfg:
    stages: tuple = (0.5, 0.75, 1.0)      # share of the easiest examples per stage
    epochs_per_stage: int = 9
    batch: int = 48
    lr: float = 0.03
    smoothing: float = 0.15
    seed: int = 44


cfg = Cfg()
keras.utils.set_random_seed(cfg.seed)
x, y = load_digits(return_X_y=True)
x = (x / 16.0).astype("float32").reshape(-1, 8, 8, 1)
x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.35, stratify=y, random_state=1)
x_va, x_te, y_va, y_te = train_test_split(x_te, y_te, test_size=0.6, stratify=y_te, random_state=1)

# difficulty: distance to the mean of the own class, relative to the nearest other mean
means = np.stack([x_tr[y_tr == k].mean(0) for k in range(10)]).reshape(10, -1)
d = ((x_tr.reshape(len(x_tr), 1, -1) - means[None]) ** 2).sum(-1)
own = d[np.arange(len(y_tr)), y_tr]
d[np.arange(len(y_tr)), y_tr] = np.inf
order = np.argsort(own - d.min(1))


def distort(img, label):
    r, c = tf.random.uniform([], 0, 7, tf.int32), tf.random.uniform([], 0, 7, tf.int32)
    rows, cols = tf.range(8)[:, None, None], tf.range(8)[None, :, None]
    hole = (rows >= r) & (rows < r + 2) & (cols >= c) & (cols < c + 2)
    img = tf.where(hole, 0.0, img)
    img = tf.roll(img, tf.random.uniform([], 0, 2, tf.int32), 1)      # the right margin is empty
    return img, tf.one_hot(label, 10)


def mix(img, lab):
    lam = tf.random.uniform([tf.shape(img)[0], 1, 1, 1], 0.6, 1.0)
    return lam * img + (1 - lam) * img[::-1], lam[:, 0, 0] * lab + (1 - lam[:, 0, 0]) * lab[::-1]


def stream(share):
    idx = order[:int(share * len(order))]
    ds = tf.data.Dataset.from_tensor_slices((x_tr[idx], y_tr[idx].astype("int32"))).cache()
    return ds.shuffle(len(idx)).map(distort).batch(cfg.batch).map(mix).prefetch(2)


model = keras.Sequential([
    layers.Input((8, 8, 1)),
    layers.Conv2D(32, 3, padding="same", use_bias=False), layers.BatchNormalization(momentum=0.9),
    layers.Activation("relu"), layers.SpatialDropout2D(0.05),
    layers.Conv2D(64, 3, padding="same", use_bias=False), layers.BatchNormalization(momentum=0.9),
    layers.Activation("relu"), layers.MaxPooling2D(),
    layers.Flatten(), layers.Dropout(0.4),
    layers.Dense(96, activation="relu"), layers.Dropout(0.3),
    layers.Dense(10),
])
steps = sum(cfg.epochs_per_stage * -(-int(s * len(order)) // cfg.batch) for s in cfg.stages)
lr = keras.optimizers.schedules.CosineDecayRestarts(cfg.lr, steps // 3, t_mul=1.0, m_mul=0.7, alpha=0.05)
opt = keras.optimizers.SGD(lr, momentum=0.9, nesterov=True, use_ema=True, ema_momentum=0.97)
model.compile(opt, loss=keras.losses.CategoricalCrossentropy(from_logits=True,
                                                             label_smoothing=cfg.smoothing),
              metrics=["accuracy"])
swap = keras.callbacks.SwapEMAWeights(swap_on_epoch=False)
val = (x_va, tf.one_hot(y_va, 10).numpy())
done = 0
for share in cfg.stages:
    h = model.fit(stream(share), validation_data=val, initial_epoch=done,
                  epochs=done + cfg.epochs_per_stage, verbose=0, callbacks=[swap]).history
    done += cfg.epochs_per_stage
    print(f"stage {share:.0%}: stream loss {h['loss'][-1]:.3f} acc {h['accuracy'][-1]:.3f} | "
          f"val loss {h['val_loss'][-1]:.3f} acc {h['val_accuracy'][-1]:.3f}")

opt.finalize_variable_values(model.trainable_variables)
acc = np.mean(model.predict(x_te, verbose=0).argmax(-1) == y_te)
near = np.mean(((x_te.reshape(len(x_te), 1, -1) - means[None]) ** 2).sum(-1).argmin(1) == y_te)
print(f"test accuracy {acc:.3f}  nearest class mean {near:.3f}")
