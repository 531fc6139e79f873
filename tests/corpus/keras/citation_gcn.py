"""Semi-supervised node classification, two-layer graph convolution, whole graph per step."""
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)

N, C, F = 900, 5, 120


def citation_graph():
    y = rng.integers(0, C, N)
    same = y[:, None] == y[None, :]
    p = np.where(same, 0.022, 0.0025)
    a = np.triu(rng.random((N, N)) < p, 1)
    a = (a | a.T).astype("float32")
    topics = rng.dirichlet(np.full(F, 0.3), size=C)
    words = np.stack([rng.multinomial(6, 0.6 * topics[k] + 0.4 / F) for k in y])
    return a, (words > 0).astype("float32"), y


def normalise(a):
    a = a + np.eye(len(a), dtype="float32")
    d = 1.0 / np.sqrt(a.sum(1))
    return a * d[:, None] * d[None, :]


class GraphConv(layers.Layer):
    def __init__(self, units, adjacency, activation=None, **kw):
        super().__init__(**kw)
        self.units = units
        self.adj = ops.convert_to_tensor(adjacency)
        self.act = keras.activations.get(activation)

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b")

    def call(self, x):
        return self.act(ops.matmul(self.adj, ops.matmul(x, self.w)) + self.b)


adj, feats, labels = citation_graph()
adj_n = normalise(adj)

# twenty labelled nodes per class, 200 for validation, the remainder for the test
train_mask = np.zeros(N, "float32")
for c in range(C):
    train_mask[rng.choice(np.flatnonzero(labels == c), 20, replace=False)] = 1
rest = rng.permutation(np.flatnonzero(train_mask == 0))
val_mask, test_mask = np.zeros(N, "float32"), np.zeros(N, "float32")
val_mask[rest[:200]] = 1
test_mask[rest[200:]] = 1
print("edges", int(adj.sum() / 2), "labelled", int(train_mask.sum()))

inp = keras.Input((F,))
h = layers.Dropout(0.5)(inp)
h = GraphConv(32, adj_n, "relu")(h)
h = layers.Dropout(0.5)(h)
out = GraphConv(C, adj_n, "softmax")(h)
model = keras.Model(inp, out)
model.compile(optimizer=keras.optimizers.Adam(1e-2, weight_decay=5e-4),
              loss=keras.losses.SparseCategoricalCrossentropy(reduction="sum"),
              weighted_metrics=["accuracy"])

# rows must stay in graph order, and one batch is the graph
model.fit(feats, labels, sample_weight=train_mask / train_mask.sum(),
          validation_data=(feats, labels, val_mask / val_mask.sum()),
          batch_size=N, epochs=110, shuffle=False, verbose=0,
          callbacks=[keras.callbacks.EarlyStopping(monitor="val_loss", patience=20,
                                                   restore_best_weights=True),
                     keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: e % 25 == 0 and print(
                         e, {k: round(float(v), 3) for k, v in logs.items()}))])

pred = model.predict(feats, batch_size=N, verbose=0).argmax(1)
t = test_mask > 0
major = np.bincount(labels[train_mask > 0]).argmax()
print(f"majority {np.mean(labels[t] == major):.3f}   test accuracy {np.mean(pred[t] == labels[t]):.3f}")
