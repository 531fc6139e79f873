import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

TEMPERATURE = 4.0


def mlp(widths, name):
    return keras.Sequential([keras.Input((64,))]
                            + [layers.Dense(w, activation="relu") for w in widths]
                            + [layers.Dense(10)], name=name)


def accuracy(net, x, y):
    return float(np.mean(np.argmax(net(x).numpy(), -1) == y))


class Student:
    def __init__(self, teacher, net, lr):
        self.teacher, self.net = teacher, net
        self.teacher.trainable = False
        self.shadow = keras.models.clone_model(net)
        self.shadow.set_weights(net.get_weights())
        self.opt = keras.optimizers.Adam(lr)

    @tf.function
    def step(self, x):
        soft = tf.nn.softmax(self.teacher(x, training=False) / TEMPERATURE)
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True) / TEMPERATURE
            ce = tf.nn.softmax_cross_entropy_with_logits(labels=soft, logits=logits)
            loss = TEMPERATURE ** 2 * tf.reduce_mean(ce)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        for s, w in zip(self.shadow.variables, self.net.variables):
            s.assign(0.98 * s + 0.02 * w)
        return loss


def main():
    keras.utils.set_random_seed(90)
    d = load_digits()
    x = (d.data / 16.0 - 0.5).astype("float32")
    x_lab, x_te, y_lab, y_te = train_test_split(x, d.target, test_size=0.3, stratify=d.target, random_state=7)
    teacher = mlp([128, 128], "teacher")
    teacher.compile(keras.optimizers.Adam(2e-3),
                    keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    teacher.fit(x_lab, y_lab, epochs=15, batch_size=64, verbose=0)
    print(f"teacher test accuracy {accuracy(teacher, x_te, y_te):.3f}")

    student = Student(teacher, mlp([24], "student"), 4e-3)
    ds = tf.data.Dataset.from_tensor_slices(x_lab).shuffle(len(x_lab)).batch(64).repeat(25)
    for i, xb in enumerate(ds):
        xb = xb + tf.random.normal(tf.shape(xb), stddev=0.1)
        loss = student.step(xb)
        if i % 100 == 0:
            print(f"step {i}: loss {float(loss):.3f}")
    print(f"student test accuracy {accuracy(student.net, x_te, y_te):.3f}  averaged {accuracy(student.shadow, x_te, y_te):.3f}")


if __name__ == "__main__":
    main()
