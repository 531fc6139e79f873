import time
import resource

import numpy as np
import tensorflow as tf

tf.random.set_seed(11)
rng = np.random.default_rng(11)


def make_envelopes(n, length=64):
    t = np.arange(length)
    kinds = rng.integers(0, 3, size=n)
    out = np.zeros((n, length), dtype="float32")
    for i, k in enumerate(kinds):
        phase = rng.uniform(0, 2 * np.pi)
        if k == 0:
            wave = np.sin(2 * np.pi * t / 16 + phase)
        elif k == 1:
            wave = np.sign(np.sin(2 * np.pi * t / 9 + phase))
        else:
            wave = np.sin(2 * np.pi * t / 16 + phase) * np.sin(2 * np.pi * t / 64)
        out[i] = wave + rng.normal(0, 0.35, size=length)
    return out[..., None], kinds.astype("int64")


class EnvelopeNet(tf.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.net = tf.keras.Sequential([
            tf.keras.layers.Input((64, 1)),
            tf.keras.layers.Conv1D(32, 7, activation="relu"),
            tf.keras.layers.MaxPooling1D(2),
            tf.keras.layers.Conv1D(32, 5, activation="relu"),
            tf.keras.layers.GlobalMaxPooling1D(),
            tf.keras.layers.Dense(n_classes),
        ])

    def __call__(self, x, training=False):
        return self.net(x, training=training)


def rss_mb():
    with open("/proc/self/statm") as f:
        pages = int(f.read().split()[1])
    return pages * resource.getpagesize() / 2 ** 20


x_train, y_train = make_envelopes(3840)
x_test, y_test = make_envelopes(500)

model = EnvelopeNet(3)
opt = tf.keras.optimizers.Adam(3e-3)
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
opt.build(model.net.trainable_variables)

batches = tf.data.Dataset.from_tensor_slices((x_train, y_train))
batches = batches.shuffle(4000, seed=3).batch(128)

memory = []
for epoch in range(3):
    start = time.time()
    losses = []
    for xb, yb in batches:
        with tf.GradientTape() as tape:
            loss = ce(yb, model(xb, training=True))
        grads = tape.gradient(loss, model.net.trainable_variables)
        opt.apply_gradients(zip(grads, model.net.trainable_variables))
        losses.append(float(loss))
        memory.append(rss_mb())
    print(f"epoch {epoch}: loss {np.mean(losses):.4f}  {time.time() - start:.1f}s  rss {memory[-1]:.0f} MB")

pred = tf.argmax(model(x_test), axis=1).numpy()
steps = len(memory) // 3
growth = memory[steps - 1] - memory[2]
print(f"test accuracy {np.mean(pred == y_test):.3f}")
print(f"memory growth inside the first epoch {growth:.0f} MB, peak {max(memory):.0f} MB")
