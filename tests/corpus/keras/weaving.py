import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import argparse
import numpy as np
import keras
from keras import layers

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=10)
p.add_argument("--batch", type=int, default=8)
p.add_argument("--accumulate", type=int, default=4)
p.add_argument("--lr", type=float, default=0.3)
a = p.parse_args()
keras.utils.set_random_seed(6)


def cloth(n, rng):
    """Weave patterns: plain, twill left, twill right, basket, satin."""
    yy, xx = np.mgrid[0:16, 0:16]
    y = rng.integers(0, 5, n)
    x = np.empty((n, 16, 16, 1), "float32")
    for i, k in enumerate(y):
        s, u = rng.integers(0, 8, 2)
        v, w = yy + s, xx + u
        pattern = [(v + w) % 2, (v + w) // 2 % 2, (v - w) // 2 % 2, (v // 2 + w // 2) % 2, (2 * v + w) % 5 == 0][k]
        x[i, ..., 0] = pattern - 0.5 + rng.normal(0, 0.5, (16, 16))
    return x, keras.utils.to_categorical(y, 5)


rng = np.random.default_rng(6)
x_train, y_train = cloth(1500, rng)
x_val, y_val = cloth(300, rng)

model = keras.Sequential([
    keras.Input((16, 16, 1)),
    layers.Conv2D(16, 3, use_bias=False),
    layers.LayerNormalization(),
    layers.Activation("relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(5),
])
updates = len(x_train) // (a.batch * a.accumulate) * a.epochs
schedule = keras.optimizers.schedules.CosineDecay(
    0.0, decay_steps=updates, warmup_target=a.lr, warmup_steps=updates // 10)
model.compile(
    optimizer=keras.optimizers.SGD(schedule, gradient_accumulation_steps=a.accumulate, clipnorm=1.0,
                                   use_ema=True, ema_momentum=0.97),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.2),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=a.batch, epochs=a.epochs,
          callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=True)], verbose=2)
print("val accuracy", round(model.evaluate(x_val, y_val, verbose=0)[1], 4))
