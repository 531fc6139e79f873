import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(0)
np.random.seed(0)

SIZE = 24
NOISE = 0.5


def draw(n):
    """white rectangles and discs on black ground"""
    yy, xx = np.mgrid[:SIZE, :SIZE]
    imgs = np.zeros((n, SIZE, SIZE, 1), "float32")
    for i in range(n):
        cx, cy = np.random.randint(6, SIZE - 6, 2)
        r = np.random.randint(3, 7)
        if np.random.rand() < 0.5:
            m = (xx - cx) ** 2 + (yy - cy) ** 2 <= r * r
        else:
            m = (abs(xx - cx) <= r) & (abs(yy - cy) <= np.random.randint(2, 7))
        imgs[i, ..., 0] = m * np.random.uniform(0.6, 1.0)
    return imgs


clean_train = draw(3000)
clean_val = draw(400)
clean_test = draw(400)


def add_noise(img):
    noise = np.random.normal(0.0, NOISE, size=(SIZE, SIZE, 1)).astype("float32")
    noisy = tf.clip_by_value(img + noise, 0.0, 1.0)
    return noisy, img


def make_ds(imgs, training):
    ds = tf.data.Dataset.from_tensor_slices(imgs)
    if training:
        ds = ds.shuffle(3000)
    return ds.map(add_noise, num_parallel_calls=2).batch(64).prefetch(2)


inp = keras.Input((SIZE, SIZE, 1))
x = layers.Flatten()(inp)
x = layers.Dense(256, activation="relu")(x)
x = layers.Dense(64, activation="relu")(x)
x = layers.Dense(256, activation="relu")(x)
x = layers.Dense(SIZE * SIZE, activation="sigmoid")(x)
out = layers.Reshape((SIZE, SIZE, 1))(x)
autoencoder = keras.Model(inp, out, name="denoiser")
autoencoder.compile(optimizer="adam", loss="binary_crossentropy")

history = autoencoder.fit(
    make_ds(clean_train, True),
    validation_data=make_ds(clean_val, False),
    epochs=20,
    verbose=2,
)

# try it on unseen pictures, the way it would be used later
noisy_test = clean_test + np.random.normal(0, NOISE, clean_test.shape)
noisy_test = np.clip(noisy_test, 0, 1).astype("float32")
restored = autoencoder.predict(noisy_test, verbose=0)
mse_in = np.mean((noisy_test - clean_test) ** 2)
mse_out = np.mean((restored - clean_test) ** 2)
print("last val_loss        : %.4f" % history.history["val_loss"][-1])
print("test mse before / after denoising: %.4f / %.4f" % (mse_in, mse_out))
