# Transfer learning on small digit images.
# 1) train a backbone on plentiful "scanner A" images with a proxy task (which way up is it?)
# 2) put a classifier on top and train only that, 3) fine-tune the whole network gently.
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 5
keras.utils.set_random_seed(SEED)


def scanner_b(images, rng):
    """The second scanner: inverted contrast, a shading gradient and some noise."""
    shade = np.linspace(-0.25, 0.25, 8)[None, :, None]
    out = 1.0 - images + shade + 0.08 * rng.normal(size=images.shape)
    return np.clip(out, 0, 1)


digits = load_digits()
images = (digits.images / 16.0).astype("float32")
labels = digits.target.astype("int32")
rng = np.random.default_rng(SEED)

img_a, img_b, _, lab_b = train_test_split(images, labels, test_size=0.6, random_state=1, stratify=labels)
img_b = scanner_b(img_b, rng).astype("float32")
x_train, x_test, y_train, y_test = train_test_split(
    img_b[..., None], lab_b, test_size=0.45, random_state=2, stratify=lab_b)

# proxy task: rotation by 0/90/180/270 degrees
turns = rng.integers(0, 4, size=len(img_a) * 3)
proxy_x = np.stack([np.rot90(img_a[k % len(img_a)], t) for k, t in enumerate(turns)])[..., None]


def build_backbone():
    inp = keras.Input((8, 8, 1))
    h = layers.Conv2D(16, 3, padding="same", activation="relu")(inp)
    h = layers.MaxPooling2D()(h)
    h = layers.Conv2D(32, 3, padding="same", activation="relu")(h)
    h = layers.MaxPooling2D()(h)
    h = layers.Flatten()(h)
    h = layers.Dense(24, activation="relu")(h)
    return keras.Model(inp, h, name="backbone")


backbone = build_backbone()
proxy = keras.Sequential([backbone, layers.Dense(4, activation="softmax")], name="proxy")
proxy.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
hist = proxy.fit(proxy_x, turns, epochs=6, batch_size=64, verbose=0)
print("proxy task accuracy: %.3f" % hist.history["accuracy"][-1])

# ---- stage 1: head only ---------------------------------------------------
backbone.trainable = False
inp = keras.Input((8, 8, 1))
feat = backbone(inp)
feat = layers.Dropout(0.1)(feat)
out = layers.Dense(10, activation="softmax")(feat)
model = keras.Model(inp, out, name="digit_classifier")
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x_train, y_train, epochs=15, batch_size=32, verbose=0,
          validation_data=(x_test, y_test))
acc_head = model.evaluate(x_test, y_test, verbose=0)[1]
print("after head training: test accuracy %.3f" % acc_head)

# ---- stage 2: fine-tune everything with a smaller rate --------------------
backbone.trainable = True
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
print("weights to be tuned:", sum(int(np.prod(w.shape)) for w in model.trainable_weights))

h2 = model.fit(x_train, y_train, epochs=35, batch_size=32, verbose=0,
               validation_data=(x_test, y_test))
for ep in range(4, 35, 10):
    print("fine-tune epoch %2d  loss %.4f  val_accuracy %.3f"
          % (ep + 1, h2.history["loss"][ep], h2.history["val_accuracy"][ep]))

acc = model.evaluate(x_test, y_test, verbose=0)[1]
majority = np.bincount(y_test).max() / len(y_test)
print("final test accuracy %.3f (majority class %.3f, %d training images)"
      % (acc, majority, len(x_train)))
