"""Learn stroke features on one alphabet, then adapt to a second one with few samples."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
SIDE = 16


def alphabet(k):
    glyphs = []
    for _ in range(k):
        img = np.zeros((SIDE, SIDE), "float32")
        for _ in range(4):
            p, q = rng.uniform(3, SIDE - 3, 2), rng.uniform(3, SIDE - 3, 2)
            for s in np.linspace(0, 1, 30):
                i, j = np.round(p + s * (q - p)).astype(int)
                img[i, j] = 1.0
        glyphs.append(img)
    return np.stack(glyphs)


def draw(glyphs, n):
    y = rng.integers(0, len(glyphs), n)
    x = np.empty((n, SIDE, SIDE, 1), "float32")
    for i, c in enumerate(y):
        x[i, ..., 0] = np.roll(glyphs[c], rng.integers(-1, 2, 2), (0, 1)) * rng.uniform(0.6, 1.2)
    return x + rng.normal(0, 0.15, x.shape).astype("float32"), y.astype("int32")


old_alphabet, new_alphabet = alphabet(20), alphabet(12)
x_old, y_old = draw(old_alphabet, 4000)
x_new, y_new = draw(new_alphabet, 600)
x_test, y_test = draw(new_alphabet, 600)

trunk = keras.Sequential([
    keras.Input((SIDE, SIDE, 1)),
    layers.Conv2D(24, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(),
    layers.Conv2D(48, 3, activation="relu", padding="same"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(96, activation="relu"),
], name="trunk")
norm = keras.Sequential([keras.Input((96,)), layers.LayerNormalization()], name="norm")


def new_head(classes):
    return keras.Sequential([keras.Input((96,)), layers.Dense(classes)])


ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


class Net:
    def __init__(self, head):
        self.trunk, self.norm, self.head = trunk, norm, head

    def __call__(self, x):
        return self.head(self.norm(self.trunk(x)))

    def accuracy(self, x, y):
        return float(np.mean(self(x).numpy().argmax(1) == y))


def train(net, opt, params, x, y, epochs, batch=32):
    @tf.function
    def step(a, b):
        with tf.GradientTape() as tape:
            loss = ce(b, net(a))
        opt.apply_gradients(zip(tape.gradient(loss, params), params))
        return loss

    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(batch)
    for e in range(epochs):
        losses = [float(step(a, b)) for a, b in ds]
        print(f"  epoch {e + 1:2d} loss {np.mean(losses):.4f}")


net = Net(new_head(len(old_alphabet)))
params = net.trunk.trainable_variables + net.norm.trainable_variables + net.head.trainable_variables
print("first alphabet")
train(net, keras.optimizers.Adam(1e-3), params, x_old, y_old, epochs=4)
print("accuracy", net.accuracy(x_old, y_old))

# second alphabet: the strokes are kept, only the norm and the classifier adapt
net.trunk.trainable = False
net.head = new_head(len(new_alphabet))
params = net.norm.trainable_variables + net.head.trainable_variables
opt = keras.optimizers.Adam(3e-3)
opt.build(params)
print("second alphabet")
train(net, opt, params, x_new, y_new, epochs=12)
print("accuracy train %.3f test %.3f" % (net.accuracy(x_new, y_new), net.accuracy(x_test, y_test)))
