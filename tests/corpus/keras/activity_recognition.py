import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import pandas as pd
from tensorflow import keras

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

ACTIVITIES = ["lying", "sitting", "standing", "walking", "stairs", "running"]
INTENSITY = {"lying": 0.1, "sitting": 0.2, "standing": 0.3, "walking": 1.0, "stairs": 1.3, "running": 2.4}
TILT = {"lying": 1.4, "sitting": 0.6, "standing": 0.1, "walking": 0.15, "stairs": 0.35, "running": 0.25}


def record(activity, n):
    k = INTENSITY[activity]
    tilt = TILT[activity] + rng.normal(0, 0.15, n)
    cadence = np.clip(k * 1.1 + rng.normal(0, 0.25, n), 0, None)
    frame = pd.DataFrame({
        "acc_x_std": k * np.exp(rng.normal(0, 0.3, n)),
        "acc_y_std": k * 0.7 * np.exp(rng.normal(0, 0.3, n)),
        "acc_z_mean": 9.81 * np.cos(tilt) + rng.normal(0, 0.3, n),
        "acc_x_mean": 9.81 * np.sin(tilt) + rng.normal(0, 0.3, n),
        "gyro_std": k * 0.9 + rng.normal(0, 0.2, n),
        "cadence_hz": cadence,
        "heart_rate": 60 + 35 * k + rng.normal(0, 10, n),
        "baro_slope": (0.4 if activity == "stairs" else 0.0) + rng.normal(0, 0.15, n),
    })
    frame["activity"] = activity
    return frame


recordings = [record(a, 450) for a in ACTIVITIES]
data = pd.concat(recordings, ignore_index=True)

holdout = data.sample(frac=0.2, random_state=3)
data = data.drop(holdout.index)

features = [c for c in data.columns if c != "activity"]
codes = {a: i for i, a in enumerate(ACTIVITIES)}

x = data[features].to_numpy("float32")
y = data["activity"].map(codes).to_numpy()
x_hold = holdout[features].to_numpy("float32")
y_hold = holdout["activity"].map(codes).to_numpy()

norm = keras.layers.Normalization()
norm.adapt(x)

inputs = keras.Input((len(features),))
h = norm(inputs)
h = keras.layers.Dense(64, activation="relu")(h)
h = keras.layers.Dropout(0.2)(h)
h = keras.layers.Dense(32, activation="relu")(h)
outputs = keras.layers.Dense(len(ACTIVITIES), activation="softmax")(h)
model = keras.Model(inputs, outputs)

model.compile(optimizer=keras.optimizers.Adam(2e-3),
              loss="sparse_categorical_crossentropy",
              metrics=["accuracy"])

history = model.fit(x, y, validation_split=0.2, epochs=20, batch_size=32, verbose=2)

print("last train accuracy", round(history.history["accuracy"][-1], 4))
print("last val accuracy  ", round(history.history["val_accuracy"][-1], 4))
loss, acc = model.evaluate(x_hold, y_hold, verbose=0)
print(f"holdout loss {loss:.4f}  accuracy {acc:.4f}")
pred = model.predict(x_hold, verbose=0).argmax(1)
for name, i in codes.items():
    print(f"  {name:10s} recall {np.mean(pred[y_hold == i] == i):.3f}")
