"""Classify ports by the goods they receive over three kinds of trade link."""
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)

N, F, C = 1600, 24, 4
LINKS = ("sea", "rail", "road")


def build_world():
    x = rng.normal(size=(N, F)).astype("float32")
    adj = {}
    signal = np.zeros((N, C))
    for name in LINKS:
        a = np.zeros((N, N), "float32")
        for i in range(N):
            nb = rng.choice(N, size=4, replace=False)
            a[i, nb] = 0.5
        adj[name] = tf.constant(a)
        signal += a @ x @ rng.normal(size=(F, C))
    return x, adj, signal.argmax(1).astype("int32")


class LinkConv(keras.layers.Layer):
    """One weight matrix per kind of link, summed."""

    def __init__(self, units, links, **kw):
        super().__init__(**kw)
        self.units = units
        self.links = links

    def build(self, shape):
        init = keras.initializers.GlorotUniform(seed=1)
        self.kernels = {
            name: self.add_weight(shape=(shape[-1], self.units), initializer=init, name=name)
            for name in self.links
        }
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, x, adj):
        out = self.bias
        for name in self.links:
            out = out + tf.matmul(adj[name], tf.matmul(x, self.kernels[name]))
        return out


class PortNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = LinkConv(6, LINKS)
        self.head = keras.layers.Dense(C)

    def call(self, x, adj):
        return self.head(tf.nn.leaky_relu(self.conv(x, adj)))


x, adj, y = build_world()
order = rng.permutation(N)
train, test = order[:1200], order[1200:]
net = PortNet()
opt = keras.optimizers.Adam(0.02)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
net(x, adj)


@tf.function
def step():
    with tf.GradientTape() as tape:
        logits = net(x, adj)
        loss = ce(tf.gather(y, train), tf.gather(logits, train))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for epoch in range(160):
    loss = step()
    if epoch % 20 == 19:
        pred = net(x, adj).numpy().argmax(1)
        print(f"epoch {epoch + 1:3d} loss {float(loss):.3f} "
              f"train {np.mean(pred[train] == y[train]):.3f} test {np.mean(pred[test] == y[test]):.3f}")
