import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from sklearn.metrics import r2_score

keras.utils.set_random_seed(21)


def oscillate(mass, stiffness, damping, dt=0.01, steps=600):
    """Velocity Verlet, all systems at once; returns the amplitude left at the end."""
    pos = np.ones(len(mass))
    vel = np.zeros(len(mass))
    peak = np.zeros(len(mass))
    for step in range(steps):
        acc = -(stiffness * pos + damping * vel) / mass
        vel = vel + 0.5 * dt * acc
        pos = pos + dt * vel
        acc = -(stiffness * pos + damping * vel) / mass
        vel = vel + 0.5 * dt * acc
        if step >= steps // 2:
            energy = 0.5 * mass * vel ** 2 + 0.5 * stiffness * pos ** 2
            peak[:] = np.maximum(peak, np.sqrt(2 * energy / stiffness))
    return peak


def sample_systems(n, rng):
    mass = rng.integers(1, 9, n)
    stiffness = rng.uniform(2.0, 20.0, n)
    damping = rng.uniform(0.05, 2.5, n)
    return mass, stiffness, damping


def features(mass, stiffness, damping):
    return np.stack([mass, stiffness, damping], 1).astype("float32")


rng = np.random.default_rng(0)
train_sys, test_sys = sample_systems(3000, rng), sample_systems(600, rng)
x_train, x_test = features(*train_sys), features(*test_sys)
y_train = oscillate(*train_sys).astype("float32")
y_test = oscillate(*test_sys).astype("float32")

norm = keras.layers.Normalization()
norm.adapt(x_train)
model = keras.Sequential([
    keras.Input((3,)), norm,
    keras.layers.Dense(64, activation="tanh"),
    keras.layers.Dense(64, activation="tanh"),
    keras.layers.Dense(1),
])

BATCH, EPOCHS = 64, 30
schedule = keras.optimizers.schedules.CosineDecay(
    1e-4, decay_steps=EPOCHS * (len(x_train) // BATCH),
    warmup_target=5e-3, warmup_steps=100)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse", metrics=["mae"])
hist = model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0,
                 validation_split=0.1)
for e in (0, 4, 9, 19, EPOCHS - 1):
    print(f"epoch {e + 1}: loss {hist.history['loss'][e]:.6f} val {hist.history['val_loss'][e]:.6f}")

pred = model.predict(x_test, verbose=0)[:, 0]
print(f"test mae {np.abs(pred - y_test).mean():.5f}  prediction spread {pred.std():.4f}")

m, k, c = test_sys
t_half = 3.0
closed_form = np.exp(-c / (2 * m) * t_half)
print(f"against the closed form: mae {np.abs(pred - closed_form).mean():.4f}  "
      f"R2 {r2_score(closed_form, pred):.4f}")
