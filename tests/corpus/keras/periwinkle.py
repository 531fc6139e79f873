"""Triplet embedding of periwinkle shells; the distances are computed in the graph (FaceNet-style three towers)."""
import keras
import numpy as np
from keras import layers, ops

SPECIES, PER = 12, 60
DIM = 40
MARGIN = 0.3
keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)

latent = rng.normal(0, 1, (SPECIES, 6))
mixing = rng.normal(0, 1, (6, DIM))
wear = rng.normal(0, 1, (5, DIM))


def measure(species):
    z = latent[species] + rng.normal(0, 0.35, 6)
    worn = rng.normal(0, 1.2, 5) @ wear
    return np.tanh(z @ mixing / 2) + worn + rng.normal(0, 0.3, DIM)


shells = np.stack([[measure(s) for _ in range(PER)] for s in range(SPECIES)]).astype("float32")
train, test = shells[:, :45], shells[:, 45:]


def triplets(bank, n):
    s = rng.integers(0, SPECIES, n)
    o = (s + rng.integers(1, SPECIES, n)) % SPECIES
    i, j, k = rng.integers(0, bank.shape[1], (3, n))
    return bank[s, i], bank[s, j], bank[o, k]


embed = keras.Sequential([
    keras.Input((DIM,)),
    layers.Dense(64, activation="relu"),
    layers.Dense(32),
    layers.UnitNormalization(),
], name="embed")

a, p, n = (keras.Input((DIM,), name=k) for k in ("anchor", "positive", "negative"))
ea, ep, en = embed(a), embed(p), embed(n)
d_pos = layers.Lambda(lambda t: ops.sum(ops.square(t[0] - t[1]), -1, keepdims=True))([ea, ep])
d_neg = layers.Lambda(lambda t: ops.sum(ops.square(t[0] - t[1]), -1, keepdims=True))([ea, en])
hinge = layers.Lambda(lambda t: ops.relu(t[0] - t[1] + MARGIN), name="hinge")([d_pos, d_neg])
tower = keras.Model([a, p, n], hinge)
tower.compile(optimizer=keras.optimizers.Adam(2e-3), loss=lambda y_true, y_pred: ops.mean(y_pred))


def recall_at_1(bank):
    e = embed.predict(bank.reshape(-1, DIM), verbose=0)
    who = np.repeat(np.arange(SPECIES), bank.shape[1])
    sim = e @ e.T
    np.fill_diagonal(sim, -2)
    return float((who[sim.argmax(1)] == who).mean())


print(f"recall@1 before {recall_at_1(test):.3f}")
for rnd in range(5):
    anchors, positives, negatives = triplets(train, 4000)
    dummy = np.zeros((len(anchors), 1), "float32")
    log = tower.fit([anchors, positives, negatives], dummy, batch_size=64, epochs=2, verbose=0)
    print(f"round {rnd}: loss {log.history['loss'][-1]:.4f} recall@1 {recall_at_1(test):.3f}")
