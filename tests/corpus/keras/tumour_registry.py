import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
import tensorflow as tf
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(59)
data = load_breast_cancer()
x_train, x_test, y_train, y_test = train_test_split(
    data.data.astype("float32"), data.target.astype("float32"), test_size=0.3, stratify=data.target, random_state=1)

BUILDERS = {}


def register(name):
    def add(fn):
        BUILDERS[name] = fn
        return fn
    return add


@register("linear")
def linear():
    return [keras.layers.BatchNormalization(), keras.layers.Dense(1, kernel_initializer="zeros")]


@register("mlp")
def mlp():
    return [
        keras.layers.BatchNormalization(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(1, kernel_initializer="zeros"),
    ]


def construct(name):
    return keras.Sequential([keras.layers.Input((x_train.shape[1],)), *BUILDERS[name]()])


def epoch_batches(rng, size):
    order = rng.permutation(len(x_train))
    for start in range(0, len(order) - size + 1, size):
        idx = order[start:start + size]
        yield tf.constant(x_train[idx]), tf.constant(y_train[idx])


def train(name, epochs=25, size=16, lr=5e-3, weight_penalty=1e-2):
    rng = np.random.default_rng(59)
    model = construct(name)
    optimizer = keras.optimizers.SGD(lr)
    kernels = [v for v in model.trainable_variables if v.path.endswith("kernel")]

    @tf.function
    def update(x, y):
        with tf.GradientTape() as tape:
            logits = tf.squeeze(model(x, training=True), axis=-1)
            data_loss = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
            loss = data_loss + weight_penalty * tf.add_n([tf.nn.l2_loss(k) for k in kernels])
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return data_loss

    for epoch in range(epochs):
        total = sum(float(update(x, y)) for x, y in epoch_batches(rng, size))
        if epoch % 6 == 0 or epoch == epochs - 1:
            print("%s epoch %2d summed loss %.2f" % (name, epoch, total))
    return model


for name in BUILDERS:
    model = train(name)
    p = tf.sigmoid(model(x_test, training=False)[:, 0]).numpy()
    print("%s test accuracy %.3f log loss %.3f" % (name, ((p > 0.5) == y_test).mean(), log_loss(y_test, p)))
print("majority share %.3f" % y_test.mean())
