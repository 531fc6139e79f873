"""GCN on a simulated citation graph, with a monitor on the hidden activations."""
import resource
import time
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)


def make_graph(n=600, k=5, dim=64):
    topic = rng.integers(0, k, n)
    p = np.where(topic[:, None] == topic[None], 0.03, 0.004)
    upper = np.triu(rng.random((n, n)) < p, 1)
    adj = (upper | upper.T).astype("float32") + np.eye(n, dtype="float32")
    d = adj.sum(1)
    adj = adj / np.sqrt(d[:, None] * d[None])
    proto = rng.random((k, dim)) < 0.25
    words = (rng.random((n, dim)) < np.where(proto[topic], 0.26, 0.12)).astype("float32")
    return adj, words, topic.astype("int32")


class GraphConv(layers.Layer):
    """A X W, with optional observers of the output."""

    def __init__(self, units, activation=None, **kw):
        super().__init__(**kw)
        self.lin = layers.Dense(units)
        self.act = keras.activations.get(activation)
        self.observers = []

    def observe(self, fn):
        self.observers.append(fn)

    def call(self, x, adj):
        out = self.act(ops.matmul(adj, self.lin(x)))
        for fn in list(self.observers):
            fn(self.name, out)
        return out


class ActivationMonitor:
    def __init__(self):
        self.records = []

    def __call__(self, name, out):
        a = out.numpy()
        ranked = np.sort(a, axis=0).astype("float16")       # for the quantile plots
        self.records.append({"layer": name, "dead": float((a <= 0).all(0).mean()), "ranked": ranked})

    def flush(self):
        dead = np.mean([r["dead"] for r in self.records])
        n = len(self.records)
        self.records.clear()
        return dead, n


class GCN(keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.gc1 = GraphConv(32, "relu", name="gc1")
        self.gc2 = GraphConv(16, "relu", name="gc2")
        self.drop = layers.Dropout(0.4)
        self.head = layers.Dense(classes)

    def call(self, x, adj, training=False):
        h = self.drop(self.gc1(x, adj), training=training)
        return self.head(self.drop(self.gc2(h, adj), training=training))


def main(steps=200, every=40):
    adj, x, y = make_graph()
    order = rng.permutation(len(y))
    tr, va, te = order[:120], order[120:220], order[220:]
    adj, x = tf.constant(adj), tf.constant(x)

    model = GCN(5)
    monitor = ActivationMonitor()
    opt = keras.optimizers.Adam(5e-3, weight_decay=5e-4)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    tick = time.perf_counter()
    for step in range(1, steps + 1):
        for layer in (model.gc1, model.gc2):
            layer.observe(monitor)
        with tf.GradientTape() as tape:
            logits = model(x, adj, training=True)
            loss = loss_fn(y[tr], tf.gather(logits, tr))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))

        if step % every == 0:
            dead, n = monitor.flush()
            ms = (time.perf_counter() - tick) / every * 1e3
            pred = np.argmax(model(x, adj).numpy(), 1)
            rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"step {step:3d} loss {float(loss):.3f} val acc {np.mean(pred[va] == y[va]):.3f} "
                  f"dead {dead:.2f} ({n} records) {ms:.1f} ms/step rss {rss:.0f} MB")
            tick = time.perf_counter()

    pred = np.argmax(model(x, adj).numpy(), 1)
    print(f"test accuracy {np.mean(pred[te] == y[te]):.3f} (largest topic {np.bincount(y[te]).max() / len(te):.3f})")


if __name__ == "__main__":
    main()
