import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)

n = 2000
diameter_um = rng.normal(7400, 900, n)
mass_mg = 1.2e-9 * diameter_um ** 3 + rng.normal(0, 40, n)
nacre_mm = rng.gamma(4, 0.12, n)
lustre_lux = rng.normal(52000, 9000, n)
pits = rng.poisson(2.5, n)
depth_cm = rng.uniform(150, 900, n)
x = np.stack([diameter_um, mass_mg, nacre_mm, lustre_lux, pits, depth_cm], axis=1).astype("float32")

quality = (diameter_um - 7400) / 900 + 1.5 * (nacre_mm - 0.48) / 0.24 + (lustre_lux - 52000) / 9000 - 0.7 * (pits - 2.5)
quality += 0.8 * np.sin(3 * nacre_mm) * (diameter_um > 7400)
grade = np.where(quality + rng.normal(0, 0.4, n) > 0, 1, -1)

cut = 1600
model = keras.Sequential([
    keras.Input((6,)),
    layers.BatchNormalization(momentum=0.9, center=False, scale=False),
    layers.Dense(48, activation="gelu"),
    layers.Dense(48, activation="gelu"),
    layers.Dense(1, use_bias=False),
])
model.compile(
    optimizer=keras.optimizers.SGD(0.2),
    loss="squared_hinge",
)


class SignAccuracy(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        score = self.model.predict(x[cut:], verbose=0)[:, 0]
        print(f"epoch {epoch + 1:2d}  hinge {logs['loss']:.3f}  sign accuracy {np.mean(np.sign(score) == grade[cut:]):.3f}")


model.fit(x[:cut], grade[:cut], batch_size=64, epochs=14, verbose=0, callbacks=[SignAccuracy()])
