import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
N_CLASSES, SIZE = 5, 18


def pennant(kind):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    a = rng.integers(0, 4)
    pattern = [
        (xx + a) // 3 % 2,
        (yy + a) // 3 % 2,
        (xx + yy + a) // 3 % 2,
        ((xx + a) // 3 + (yy + a) // 3) % 2,
        np.hypot(xx - 7 - a, yy - 7 - a) // 3 % 2,
    ][kind]
    return pattern[..., None] * rng.uniform(0.4, 0.9) + rng.normal(0, 0.15, (SIZE, SIZE, 1))


labels = rng.integers(0, N_CLASSES, 1500)
images = np.stack([pennant(k) for k in labels]).astype("float32")
onehot = keras.utils.to_categorical(labels, N_CLASSES).astype("float32")


def mixup(x, y):
    lam = tf.random.uniform([], 0.0, 0.3)
    order = tf.random.shuffle(tf.range(tf.shape(x)[0]))
    return (1 - lam) * x + lam * tf.gather(x, order), (1 - lam) * y + lam * tf.gather(y, order)


train_ds = (
    tf.data.Dataset.from_tensor_slices((images[:1200], onehot[:1200]))
    .shuffle(1200).batch(40).map(mixup).prefetch(2)
)
val_ds = tf.data.Dataset.from_tensor_slices((images[1200:], onehot[1200:])).batch(100)

model = keras.Sequential([
    keras.Input((SIZE, SIZE, 1)),
    layers.Conv2D(16, 5, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(48, activation="relu"),
    layers.Dense(N_CLASSES),
])
schedule = keras.optimizers.schedules.CosineDecay(1e-4, decay_steps=330, warmup_target=8e-3, warmup_steps=30)
model.compile(
    optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-3),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    metrics=["accuracy"],
)
model.fit(train_ds, validation_data=val_ds, epochs=12, verbose=2)
print("val accuracy", model.evaluate(val_ds, verbose=0)[1])
