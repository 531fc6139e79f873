import random
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from sklearn.datasets import load_digits

random.seed(0)
keras.utils.set_random_seed(0)

X, y = load_digits(return_X_y=True)
X = (X / 16.).astype('float32')
X_train, y_train = X[:1400], y[:1400]
X_test, y_test = X[1400:], y[1400:]


def make_pairs(x, y, per_row=4):
    by_class = [np.where(y == c)[0] for c in range(10)]
    left, right, same = [], [], []
    for i in range(len(x)):
        for _ in range(per_row):
            # one pair from the same class
            j = random.choice(by_class[y[i]])
            left.append(x[i]); right.append(x[j]); same.append(1.)
            # and one from another
            c = (y[i] + random.randint(1, 9)) % 10
            j = random.choice(by_class[c])
            left.append(x[i]); right.append(x[j]); same.append(0.)
    return np.array(left), np.array(right), np.array(same, dtype='float32')[:, None]


class Distance(layers.Layer):
    def call(self, pair):
        a, b = pair
        return tf.norm(a - b, axis=-1, keepdims=True)


def embedder():
    return keras.Sequential([
        layers.Input((64,)),
        layers.Dense(96, activation='relu'),
        layers.Dense(48, activation='tanh'),
        layers.Dense(16),
    ], name='embed')


def contrastive(margin=1.0):
    def loss(same, d):
        pull = same * d
        push = (1. - same) * tf.square(tf.maximum(margin - d, 0.))
        return tf.reduce_mean(pull + push)
    return loss


def pair_accuracy(same, d):
    return tf.reduce_mean(tf.cast(tf.equal(same, tf.cast(d < 0.5, tf.float32)), tf.float32))


net = embedder()
in_a, in_b = layers.Input((64,)), layers.Input((64,))
siamese = keras.Model([in_a, in_b], Distance()([net(in_a), net(in_b)]))
siamese.compile(optimizer=keras.optimizers.RMSprop(1e-3), loss=contrastive(), metrics=[pair_accuracy])

a, b, s = make_pairs(X_train, y_train)
va, vb, vs = make_pairs(X_test, y_test, per_row=1)
print('train pairs', a.shape, 'test pairs', va.shape)
siamese.fit([a, b], s, validation_data=([va, vb], vs), batch_size=64, epochs=8, verbose=2)

# nearest class centre in the embedding
emb = net.predict(X_train, verbose=0)
centres = np.stack([emb[y_train == c].mean(0) for c in range(10)])
test = net.predict(X_test, verbose=0)
d2 = ((test[:, None] - centres[None]) ** 2).sum(-1)
print('nearest centre accuracy: %.3f' % (d2.argmin(1) == y_test).mean())
