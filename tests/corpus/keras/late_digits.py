"""Reuse a net trained on digits 0-4 for digits 5-9 with few labelled examples.

Only the normalisation parameters and the classifier are tuned on the second task.
"""
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def digit_net(n_classes):
    net = keras.Sequential([keras.Input((8, 8, 1))])
    for i, f in enumerate((24, 32, 48)):
        net.add(layers.Conv2D(f, 3, padding="same", use_bias=False, name=f"conv{i}"))
        net.add(layers.GroupNormalization(8, name=f"norm{i}"))
        net.add(layers.ReLU())
        if i < 2:
            net.add(layers.MaxPooling2D())
    net.add(layers.GlobalAveragePooling2D())
    net.add(layers.Dense(n_classes, name="head_a"))
    return net


loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def batches(x, y, size, epochs, rng):
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for i in range(0, len(x) - size + 1, size):
            j = order[i:i + size]
            yield tf.constant(x[j]), tf.constant(y[j])


def make_step(model, optimizer, variables):
    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = loss_fn(yb, model(xb, training=True))
        grads = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(grads, variables))
        return loss
    return step


def accuracy(model, x, y):
    return float(np.mean(model(x).numpy().argmax(1) == y))


def run(model, step, x, y, size, epochs, rng, tag):
    losses = []
    for i, (xb, yb) in enumerate(batches(x, y, size, epochs, rng), 1):
        losses.append(float(step(xb, yb)))
        if i % 60 == 0:
            print(f"[{tag}] step {i:4d}  loss {np.mean(losses[-60:]):.4f}  "
                  f"train accuracy {accuracy(model, x, y):.3f}")


def main():
    keras.utils.set_random_seed(3)
    rng = np.random.default_rng(3)
    images, labels = load_digits(return_X_y=True)
    images = (images.reshape(-1, 8, 8, 1) / 16.0).astype("float32")
    first = labels < 5

    # --- source task -------------------------------------------------------
    x0, x0_te, y0, y0_te = train_test_split(images[first], labels[first], test_size=.2,
                                            random_state=0, stratify=labels[first])
    model = digit_net(5)
    opt = keras.optimizers.Adam(3e-3)
    run(model, make_step(model, opt, model.trainable_variables), x0, y0, 32, 12, rng, "0-4")
    print(f"source test accuracy {accuracy(model, x0_te, y0_te):.3f}")

    # --- second task -------------------------------------------------------
    x1, x1_te, y1, y1_te = train_test_split(images[~first], labels[~first] - 5, train_size=200,
                                            random_state=0, stratify=labels[~first])
    for layer in model.layers:
        if layer.name.startswith("conv"):
            layer.trainable = False
    tuned = model.trainable_variables
    opt = keras.optimizers.Adam(5e-3)
    opt.build(tuned)
    model.pop()
    model.add(layers.Dense(5, name="head_b", kernel_initializer="zeros"))
    print("tuned parameters:", sum(int(np.prod(v.shape)) for v in tuned))

    run(model, make_step(model, opt, tuned), x1, y1, 20, 36, rng, "5-9")
    share = np.bincount(y1_te).max() / len(y1_te)
    print(f"target test accuracy {accuracy(model, x1_te, y1_te):.3f}  (largest class {share:.3f})")


if __name__ == "__main__":
    main()
