import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(5)


def make_gratings(n, size=16, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size].astype("float32")
    theta_id = rng.integers(0, 4, n)
    theta = theta_id * np.pi / 4 + rng.normal(0, 0.08, n)
    freq = rng.uniform(0.6, 1.2, n)
    phase = rng.uniform(0, 2 * np.pi, n)
    arg = xx[None] * np.cos(theta)[:, None, None] + yy[None] * np.sin(theta)[:, None, None]
    img = 0.5 + 0.5 * np.sin(freq[:, None, None] * arg + phase[:, None, None])
    img += rng.normal(0, 0.1, img.shape)
    return img[..., None].astype("float32"), theta_id


def digits_16():
    d = load_digits()
    img = (d.images / 16.0).astype("float32")
    img = img.repeat(2, axis=1).repeat(2, axis=2)[..., None]
    return train_test_split(img, d.target, test_size=0.3, stratify=d.target, random_state=0)


def build_backbone():
    inp = keras.Input((16, 16, 1))
    h = layers.Conv2D(12, 3, padding="same", activation="relu")(inp)
    h = layers.MaxPooling2D()(h)
    h = layers.Conv2D(24, 3, padding="same", activation="relu")(h)
    h = layers.MaxPooling2D()(h)
    h = layers.Conv2D(32, 3, padding="same", activation="relu")(h)
    h = layers.GlobalAveragePooling2D()(h)
    return keras.Model(inp, h, name="backbone")


def attach_head(backbone, classes):
    inp = keras.Input((16, 16, 1))
    out = layers.Dense(classes, activation="softmax")(backbone(inp))
    return keras.Model(inp, out)


def compile_for(model, lr):
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )


# stage 0: orientation pretraining
backbone = build_backbone()
gx, gy = make_gratings(1500)
pretrain = attach_head(backbone, 4)
compile_for(pretrain, 2e-3)
pretrain.fit(gx, gy, epochs=5, batch_size=64, verbose=0)
print("orientation accuracy", round(pretrain.evaluate(gx, gy, verbose=0)[1], 3))

# stage 1: new head on the fixed backbone
x_train, x_test, y_train, y_test = digits_16()
backbone.trainable = False
model = attach_head(backbone, 10)
compile_for(model, 1e-2)
model.fit(x_train, y_train, epochs=6, batch_size=32, verbose=2, validation_data=(x_test, y_test))
stage1 = model.evaluate(x_test, y_test, verbose=0)

# stage 2: fine-tune everything with a smaller step
backbone.trainable = True
compile_for(model, 2e-3)
model.fit(x_train, y_train, epochs=18, batch_size=32, verbose=2, validation_data=(x_test, y_test))
stage2 = model.evaluate(x_test, y_test, verbose=0)

print(f"stage 1: loss {stage1[0]:.3f} accuracy {stage1[1]:.3f}")
print(f"stage 2: loss {stage2[0]:.3f} accuracy {stage2[1]:.3f}")
