import os
import tempfile

import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)

N_FIELDS = 12
PER_FIELD = 50
N_WORDS = 60


def make_citations():
    field = np.repeat(np.arange(N_FIELDS), PER_FIELD)
    n = len(field)
    same = field[:, None] == field[None, :]
    prob = np.where(same, 0.12, 0.006)
    upper = np.triu(rng.random((n, n)) < prob, 1)
    adj = (upper | upper.T).astype("float32")
    topics = rng.normal(0, 1, (N_FIELDS, N_WORDS))
    words = topics[field] + rng.normal(0, 2.5, (n, N_WORDS))
    return adj, words.astype("float32"), field.astype("int32")


def normalise_adjacency(adj):
    a = adj + np.eye(len(adj), dtype="float32")
    d = 1.0 / np.sqrt(a.sum(1))
    return a * d[:, None] * d[None, :]


class GraphConv(keras.layers.Layer):
    def __init__(self, units, activation=None):
        super().__init__()
        self.dense = keras.layers.Dense(units, activation=activation)

    def call(self, inputs):
        adj, h = inputs
        return self.dense(tf.matmul(adj, h))


class PaperNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv1 = GraphConv(32, "relu")
        self.drop = keras.layers.Dropout(0.2)
        self.conv2 = GraphConv(N_FIELDS)

    def call(self, inputs, training=False):
        adj, x = inputs
        h = self.drop(self.conv1((adj, x)), training=training)
        return self.conv2((adj, h))


adj, words, field = make_citations()
adj = tf.constant(normalise_adjacency(adj))
words = tf.constant(words)
perm = rng.permutation(len(field))
train_idx, test_idx = perm[:180], perm[180:]


def node_loss(y, out):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=out))


def train(until, folder):
    net = PaperNet()
    net((adj, words))
    opt = keras.optimizers.SGD(0.1, momentum=0.9)
    opt.build(net.trainable_variables)
    epoch = tf.Variable(0, dtype=tf.int64)
    ckpt = tf.train.Checkpoint(net=net, opt=opt, epoch=epoch)
    manager = tf.train.CheckpointManager(ckpt, folder, max_to_keep=2)
    if manager.latest_checkpoint:
        ckpt.restore(manager.latest_checkpoint)
        print("resumed at epoch", int(epoch.numpy()))
    y = field[train_idx]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            out = net((adj, words), training=True)
            loss = node_loss(y, tf.gather(out, train_idx))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    while int(epoch.numpy()) < until:
        loss = step()
        epoch.assign_add(1)
        if int(epoch.numpy()) % 10 == 0:
            manager.save()
            print(f"epoch {int(epoch.numpy())} loss {float(loss):.4f}")
    return net, float(loss)


folder = os.path.join(tempfile.mkdtemp(), "ckpt")
train(30, folder)
net, last = train(60, folder)
out = net((adj, words)).numpy()
acc = (out[test_idx].argmax(1) == field[test_idx]).mean()
print(f"train loss {last:.4f}  test accuracy {acc:.3f}  (chance {1 / N_FIELDS:.3f})")
