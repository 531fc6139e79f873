"""Predict the direction of a dish's taste vector from its ingredient list; used afterwards for nearest-dish search."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)

N_ING, PER_DISH, DIM = 120, 7, 20
taste = rng.normal(size=(N_ING, DIM)) * rng.gamma(2.0, 0.5, size=(N_ING, 1))


def dishes(n):
    ing = np.stack([rng.choice(N_ING, PER_DISH, replace=False) for _ in range(n)])
    vec = taste[ing].sum(1)
    vec = vec * rng.uniform(0.5, 3.0, (n, 1)) + rng.normal(0, 0.3, (n, DIM))
    return ing.astype("int32"), vec.astype("float32")


x_train, v_train = dishes(8000)
x_test, v_test = dishes(800)

cosine = keras.losses.CosineSimilarity(axis=-1)


def direction_loss(y_true, y_pred):
    return 1.0 - cosine(y_true, y_pred)


inp = keras.Input((PER_DISH,), dtype="int32")
h = layers.Embedding(N_ING, 64)(inp)
h = layers.Lambda(lambda t: ops.sum(t, axis=1), output_shape=(64,))(h)
h = layers.Dense(96, activation="gelu")(h)
h = layers.LayerNormalization()(h)
out = layers.Dense(DIM)(h)
model = keras.Model(inp, out)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=direction_loss)

hist = model.fit(x_train, v_train, validation_split=0.1, epochs=12, batch_size=64, verbose=2)


def unit(a):
    return a / np.linalg.norm(a, axis=1, keepdims=True)


pred = unit(model.predict(x_test, verbose=0))
bank = unit(v_test)
sims = pred @ bank.T
rank = (sims > np.diag(sims)[:, None]).sum(1)
print(f"dish found first: {(rank == 0).mean():.3f}   in the first ten: {(rank < 10).mean():.3f}   of {len(bank)} dishes")
