# Plain SGD with a rate of 2.0 on small seven-segment pictures; no momentum, no hidden layer.
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras

SEGMENTS = {0: "abcdef", 1: "bc", 2: "abged", 3: "abgcd", 4: "fgbc",
            5: "afgcd", 6: "afgedc", 7: "abc", 8: "abcdefg", 9: "abcdfg"}
PIX = {"a": (0, slice(1, 5)), "g": (5, slice(1, 5)), "d": (10, slice(1, 5)),
       "f": (slice(1, 5), 0), "b": (slice(1, 5), 5), "e": (slice(6, 10), 0), "c": (slice(6, 10), 5)}


def display(n, rng):
    y = rng.integers(0, 10, n)
    x = np.zeros((n, 11, 6), "float32")
    for i, d in enumerate(y):
        for s in SEGMENTS[int(d)]:
            x[i][PIX[s]] = 1.0
    x += rng.normal(0, 0.6, x.shape)
    # rows of length 1 keep the curvature of the softmax loss below 1, so a rate of 2 is stable
    x = x.reshape(n, -1)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x.astype("float32"), y


keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x, y = display(12000, rng)
xt, yt = display(1500, rng)

model = keras.Sequential([
    keras.Input((66,)),
    keras.layers.Dense(10, kernel_initializer="zeros"),
])
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=2.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)


def by_tens(epoch, lr):
    return lr if epoch < 15 else lr * 0.8


history = model.fit(
    x, y, batch_size=200, epochs=22, verbose=0,
    validation_data=(xt, yt),
    callbacks=[keras.callbacks.LearningRateScheduler(by_tens)],
)
for e in range(0, 22, 3):
    h = {k: round(v[e], 4) for k, v in history.history.items()}
    print(e, h)
print("test accuracy", round(model.evaluate(xt, yt, verbose=0)[1], 4))
