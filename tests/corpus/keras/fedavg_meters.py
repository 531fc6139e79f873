"""Federated averaging over households: each client sees only its own meter readings."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
CLIENTS, ROUNDS, PER_ROUND, LOCAL_EPOCHS = 20, 12, 6, 2
KINDS = 5                                       # appliance classes
PROTOS = rng.normal(0, 1, (KINDS, 48))
PROTOS = np.stack([np.convolve(p, np.ones(5) / 5 ** 0.5, "same") for p in PROTOS])


def readings(n, mix):
    y = rng.choice(KINDS, n, p=mix)
    gain = rng.uniform(0.5, 1.5, (n, 1))
    shift = rng.integers(-3, 4, n)
    x = np.stack([np.roll(PROTOS[k], s) for k, s in zip(y, shift)]) * gain + rng.normal(0, 0.9, (n, 48))
    return x[..., None].astype("float32"), y.astype("int32")


# uneven households: most own two or three appliances, and some hardly measure
clients = []
for _ in range(CLIENTS):
    clients.append(readings(int(rng.integers(40, 200)), rng.dirichlet(np.full(KINDS, 0.5))))
xt, yt = readings(1500, np.full(KINDS, 1 / KINDS))


def build():
    return keras.Sequential([
        keras.Input((48, 1)),
        layers.Conv1D(16, 5, activation="relu", padding="same"), layers.MaxPooling1D(2),
        layers.Conv1D(32, 5, activation="relu", padding="same"), layers.MaxPooling1D(2),
        layers.Flatten(), layers.Dense(32, "relu"), layers.Dense(KINDS)])


server, worker = build(), build()
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
server.compile(loss=loss, metrics=["accuracy"])
# plain SGD without momentum: no optimizer state can leak from one household to the next
worker.compile(keras.optimizers.SGD(0.05), loss=loss)

velocity = [np.zeros_like(w) for w in server.get_weights()]
for rnd in range(1, ROUNDS + 1):
    base = server.get_weights()
    picked = rng.choice(CLIENTS, PER_ROUND, replace=False)
    total = sum(len(clients[c][1]) for c in picked)
    delta = [np.zeros_like(w) for w in base]
    local = []
    for c in picked:
        x, y = clients[c]
        worker.set_weights(base)
        worker.optimizer.learning_rate = 0.05 * 0.95 ** rnd
        h = worker.fit(x, y, batch_size=16, epochs=LOCAL_EPOCHS, verbose=0)
        local.append(h.history["loss"][-1])
        share = len(y) / total
        for d, w, b in zip(delta, worker.get_weights(), base):
            d += share * (w - b)
    velocity = [0.5 * v + d for v, d in zip(velocity, delta)]
    server.set_weights([b + v for b, v in zip(base, velocity)])
    if rnd % 2 == 0:
        l, a = server.evaluate(xt, yt, batch_size=500, verbose=0)
        print(f"round {rnd:2d}: mean local loss {np.mean(local):.3f}, server test loss {l:.3f}, accuracy {a:.3f}")
