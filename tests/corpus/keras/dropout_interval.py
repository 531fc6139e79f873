import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold

keras.utils.set_random_seed(1)


def regressor(dim):
    return keras.Sequential([
        keras.Input((dim,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(1),
    ])


def sample(model, x, passes=50):
    draws = np.stack([keras.ops.convert_to_numpy(model(x, training=True))[:, 0]
                      for _ in range(passes)])
    return draws.mean(0), draws.std(0)


data = load_diabetes()
X, y = data.data.astype("float32"), data.target.astype("float32")
scores = []
for fold, (tr, te) in enumerate(KFold(3, shuffle=True, random_state=0).split(X)):
    mu, sd = X[tr].mean(0), X[tr].std(0)
    ym, ys = y[tr].mean(), y[tr].std()
    model = regressor(X.shape[1])
    model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
    model.fit((X[tr] - mu) / sd, (y[tr] - ym) / ys, epochs=30, batch_size=32, verbose=0)
    xt = (X[te] - mu) / sd
    mean, spread = sample(model, xt)
    point = model.predict(xt, verbose=0)[:, 0]
    yt = (y[te] - ym) / ys
    noise = np.sqrt(np.mean((model.predict((X[tr] - mu) / sd, verbose=0)[:, 0]
                             - (y[tr] - ym) / ys) ** 2))
    total = np.sqrt(spread ** 2 + noise ** 2)
    inside = np.mean(np.abs(yt - mean) < 1.64 * total)
    r2 = lambda p: 1 - np.sum((p - yt) ** 2) / np.sum(yt ** 2)
    scores.append((r2(mean), r2(point), inside))
    print(f"fold {fold}: R2 sampled {scores[-1][0]:.3f} plain {scores[-1][1]:.3f} "
          f"inside the 90 % band {inside:.3f}")
print("mean", np.round(np.mean(scores, 0), 3))
