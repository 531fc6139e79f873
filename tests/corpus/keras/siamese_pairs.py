"""Siamese network on the sklearn digits: are the two images the same digit?"""
import numpy as np
import keras
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)

digits = load_digits()
X = (digits.images / 16.0).astype("float32")[..., None]
y = digits.target
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)


def make_pairs(images, labels, n):
    by_class = [np.where(labels == c)[0] for c in range(10)]
    left, right, same = [], [], []
    for k in range(n):
        c = rng.integers(10)
        if k % 2 == 0:
            d = c
        else:
            d = (c + rng.integers(1, 10)) % 10
        left.append(rng.choice(by_class[c]))
        right.append(rng.choice(by_class[d]))
        same.append(1.0 if c == d else 0.0)
    return images[left], images[right], np.array(same, dtype="float32")[:, None]


a_tr, b_tr, s_tr = make_pairs(X_tr, y_tr, 12000)
a_te, b_te, s_te = make_pairs(X_te, y_te, 2000)

# shared tower
tower = keras.Sequential(
    [
        layers.Input((8, 8, 1)),
        layers.Conv2D(16, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(16),
    ],
    name="tower",
)


class Distance(layers.Layer):
    """euclidean distance of two embeddings"""

    def call(self, u, v):
        sq = ops.sum(ops.square(u - v), axis=1, keepdims=True)
        return ops.sqrt(sq)


def contrastive_loss(y_true, dist, margin=1.0):
    pull = y_true * dist
    push = (1.0 - y_true) * ops.maximum(margin - dist, 0.0)
    return ops.mean(pull + push)


in_a = keras.Input((8, 8, 1))
in_b = keras.Input((8, 8, 1))
dist = Distance()(tower(in_a), tower(in_b))
model = keras.Model([in_a, in_b], dist)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=contrastive_loss)

model.fit([a_tr, b_tr], s_tr, batch_size=64, epochs=6, verbose=2,
          validation_data=([a_te, b_te], s_te))

d = model.predict([a_te, b_te], verbose=0)
acc = np.mean((d < 0.5) == (s_te > 0.5))
print("mean distance same / different:", d[s_te == 1].mean(), d[s_te == 0].mean())
print(f"pair accuracy on test: {acc:.3f}")
