"""Locate the corners of a bright marker inside detector crops."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
import tensorflow as tf

keras.utils.set_random_seed(11)
FRAME, CROP = 96, 32


def render_frame(rng):
    frame = rng.normal(0.2, 0.05, (FRAME, FRAME)).astype("float32")
    cy, cx = rng.integers(14, FRAME - 13, 2)
    angle = rng.uniform(0, np.pi / 2)
    half = rng.uniform(4, 7)
    corners = np.array([[np.cos(angle + k * np.pi / 2), np.sin(angle + k * np.pi / 2)] for k in range(2)]) * half
    points = corners + [cy, cx]
    yy, xx = np.mgrid[:FRAME, :FRAME]
    for (py, px), gain in zip(points, (1.0, 0.6)):
        frame += gain * np.exp(-((yy - py) ** 2 + (xx - px) ** 2) / 3.0).astype("float32")
    return frame, points, (cy, cx)


def crop_around(frame, points, centre, rng):
    jitter = rng.integers(-3, 4, 2)
    top = max(centre[0] + jitter[0] - CROP // 2, 0)
    left = max(centre[1] + jitter[1] - CROP // 2, 0)
    patch = frame[top:top + CROP, left:left + CROP]
    return patch[..., None], ((points - [top, left]) / CROP).astype("float32").ravel()


class KeypointRegressor:
    def __init__(self, n_points=2, lr=2e-3, batch_size=32):
        self.batch_size = batch_size
        self.net = keras.Sequential([
            keras.layers.Input((CROP, CROP, 1)),
            keras.layers.Conv2D(16, 5, padding="same", activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(24, 3, padding="same", activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dense(2 * n_points),
        ])
        self.net.compile(optimizer=keras.optimizers.Adam(lr), loss="mse", metrics=["mae"])

    def _stream(self, samples, training):
        signature = (tf.TensorSpec((None, None, 1), tf.float32), tf.TensorSpec((4,), tf.float32))
        data = tf.data.Dataset.from_generator(lambda: iter(samples), output_signature=signature)
        if training:
            data = data.shuffle(512)
        data = data.padded_batch(self.batch_size, padded_shapes=((CROP, CROP, 1), (4,)))
        return data

    def fit(self, train, val, epochs):
        return self.net.fit(self._stream(train, True), validation_data=self._stream(val, False),
                            epochs=epochs, verbose=2)

    def score(self, samples):
        pred = self.net.predict(self._stream(samples, False), verbose=0)
        truth = np.stack([p for _, p in samples])
        return CROP * np.mean(np.abs(pred - truth)), CROP * np.mean(np.abs(truth - truth.mean(0)))


def main():
    rng = np.random.default_rng(11)
    samples = [crop_around(*render_frame(rng), rng) for _ in range(1500)]
    train, val, test = samples[:1100], samples[1100:1300], samples[1300:]
    model = KeypointRegressor()
    model.fit(train, val, epochs=8)
    error, trivial = model.score(test)
    print(f"test error {error:.2f} px, mean-shape error {trivial:.2f} px")


if __name__ == "__main__":
    main()
