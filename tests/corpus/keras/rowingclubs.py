"""Two-layer graph convolution (Kipf & Welling 2017), by hand, semi-supervised: who belongs to which rowing club?"""
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 2
CLUBS, MEMBERS, LABELLED = 4, 120, 8
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

club = np.repeat(np.arange(CLUBS), MEMBERS)
N = len(club)
same = club[:, None] == club[None, :]
edges = np.triu(rng.random((N, N)) < np.where(same, 0.08, 0.012), 1)
adjacency = (edges | edges.T).astype("float32") + np.eye(N, dtype="float32")
root = 1.0 / np.sqrt(adjacency.sum(axis=1))
propagation = tf.sparse.from_dense((adjacency * root[:, None] * root[None, :]).astype("float32"))

centres = rng.normal(size=(CLUBS, 16))
features = (0.5 * centres[club] + rng.normal(size=(N, 16))).astype("float32")

labelled = np.zeros(N, dtype="float32")
for c in range(CLUBS):
    labelled[rng.choice(np.flatnonzero(club == c), LABELLED, replace=False)] = 1.0
targets = np.where(labelled > 0, club, 0)


class GraphConv(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.linear = layers.Dense(units)

    def call(self, h):
        return tf.sparse.sparse_dense_matmul(propagation, self.linear(h))


class GCN(keras.Model):
    def __init__(self):
        super().__init__()
        self.drop1, self.drop2 = layers.Dropout(0.5), layers.Dropout(0.5)
        self.conv1, self.conv2 = GraphConv(32), GraphConv(CLUBS)

    def call(self, h, training=False):
        h = tf.nn.relu(self.conv1(self.drop1(h, training=training)))
        return self.conv2(self.drop2(h, training=training))


model = GCN()
model.compile(
    optimizer=keras.optimizers.Adam(0.01, weight_decay=5e-4),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    weighted_metrics=["accuracy"],
)
# a batch is the whole graph, in the order of its nodes
history = model.fit(features, targets, sample_weight=labelled, batch_size=N, shuffle=False, epochs=120, verbose=0)
for epoch in range(0, 120, 20):
    print(f"epoch {epoch:3d}  loss {history.history['loss'][epoch]:.4f}")
print(f"epoch 119  loss {history.history['loss'][-1]:.4f}")

guess = model.predict(features, batch_size=N, verbose=0).argmax(axis=1)
hidden = labelled == 0
print("accuracy on unlabelled members", round(float((guess[hidden] == club[hidden]).mean()), 3))
