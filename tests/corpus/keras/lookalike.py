import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers, ops

SEED = 21
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

N_SPECIES, PER_SPECIES = 10, 14
patterns = rng.normal(0, 1, (N_SPECIES, 6, 6))


def photo(species):
    img = np.kron(patterns[species], np.ones((4, 4)))
    img = np.roll(img, rng.integers(-2, 3, 2), axis=(0, 1))
    return img + rng.normal(0, 0.6, img.shape)


images = np.array([photo(s) for s in range(N_SPECIES) for _ in range(PER_SPECIES)], "float32")[..., None]
species = np.repeat(np.arange(N_SPECIES), PER_SPECIES)
gallery = np.array([photo(s) for s in range(N_SPECIES) for _ in range(6)], "float32")[..., None]
gallery_species = np.repeat(np.arange(N_SPECIES), 6)


def make_pairs(imgs, labels, n):
    left = rng.integers(0, len(imgs), n)
    right = np.empty(n, dtype=int)
    same = rng.random(n) < 0.5
    for i in range(n):
        pool = np.flatnonzero((labels == labels[left[i]]) == same[i])
        right[i] = rng.choice(pool)
    return (imgs[left], imgs[right]), same.astype("float32")


encoder = keras.Sequential([
    keras.Input((24, 24, 1)),
    layers.Conv2D(16, 3, strides=2, activation="relu"),
    layers.Conv2D(32, 3, strides=2, activation="relu"),
    layers.Flatten(),
    layers.Dense(32),
])


class Distance(layers.Layer):
    def call(self, pair):
        a, b = pair
        return ops.sqrt(ops.sum(ops.square(a - b), axis=-1, keepdims=True))


def contrastive(same, dist, margin=2.0):
    return ops.mean(same * dist + (1 - same) * ops.maximum(margin - dist, 0))


a, b = keras.Input((24, 24, 1)), keras.Input((24, 24, 1))
model = keras.Model([a, b], Distance()([encoder(a), encoder(b)]))
model.compile(optimizer=keras.optimizers.Adam(5e-4), loss=contrastive)
x, same = make_pairs(images, species, 3000)
model.fit(x, same, batch_size=64, epochs=8, verbose=2)

bank = encoder.predict(images, verbose=0)
query = encoder.predict(gallery, verbose=0)
nearest = ((query[:, None] - bank[None]) ** 2).sum(-1).argmin(1)
print("nearest neighbour accuracy %.3f" % (species[nearest] == gallery_species).mean())
