# Board-game ratings by matrix factorisation
import numpy as np
import keras
from keras import layers, regularizers

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)

PLAYERS, GAMES, RANK = 500, 250, 5
u = rng.normal(size=(PLAYERS, RANK))
v = rng.normal(size=(GAMES, RANK))
bias_g = rng.normal(size=GAMES) * 0.5

n = 45_000
pi = rng.integers(PLAYERS, size=n)
gi = rng.integers(GAMES, size=n)
stars = (u[pi] * v[gi]).sum(1) * 0.6 + bias_g[gi] + 0.15 * rng.normal(size=n)
stars = stars.astype("float32")
cut = 40_000

DIM = 8
L2 = 1e-2
player_in = keras.Input((), dtype="int32", name="player")
game_in = keras.Input((), dtype="int32", name="game")
pe = layers.Embedding(PLAYERS, DIM, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3),
                      embeddings_regularizer=regularizers.L2(L2), name="player_vec")(player_in)
ge = layers.Embedding(GAMES, DIM, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3),
                      embeddings_regularizer=regularizers.L2(L2), name="game_vec")(game_in)
gb = layers.Embedding(GAMES, 1, embeddings_initializer="zeros", name="game_bias")(game_in)
score = layers.Add()([layers.Dot(axes=-1)([pe, ge]), gb])
model = keras.Model([player_in, game_in], score)

model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse",
              metrics=[keras.metrics.RootMeanSquaredError(name="rmse")])
hist = model.fit([pi[:cut], gi[:cut]], stars[:cut],
                 validation_data=([pi[cut:], gi[cut:]], stars[cut:]),
                 epochs=20, batch_size=256, verbose=2)

print("spread of the ratings:", round(float(stars[cut:].std()), 3))
print("validation rmse      :", round(hist.history["val_rmse"][-1], 3))
print("mean player norm     :",
      round(float(np.linalg.norm(model.get_layer("player_vec").get_weights()[0], axis=1).mean()), 3))
