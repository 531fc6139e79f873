# # Transfer: digits 0-4  ->  noisy, inverted digits 5-9
# (notebook exported to script)

# %%
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
HEAD_EPOCHS, TUNE_EPOCHS = 8, 25

# %%
digits = load_digits()
images = digits.images.astype("float32")[..., None] / 16.0
labels = digits.target

src = labels < 5
x_src, y_src = images[src], labels[src]

x_tgt = 1.0 - images[~src]
x_tgt = np.rot90(x_tgt, axes=(1, 2)).copy()
x_tgt = np.clip(x_tgt + rng.normal(0, 0.15, x_tgt.shape), 0, 1).astype("float32")
y_tgt = labels[~src] - 5

x_tr, x_te, y_tr, y_te = train_test_split(
    x_tgt, y_tgt, test_size=0.4, stratify=y_tgt, random_state=0)
print("source", x_src.shape, "target train", x_tr.shape, "target test", x_te.shape)

# %% the backbone, trained on the source task
backbone = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(16, 3, padding="same", activation="relu"),
    layers.Conv2D(32, 3, padding="same", strides=2, activation="relu"),
    layers.Conv2D(32, 3, padding="same", strides=2, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(12, activation="relu"),
], name="backbone")

source_model = keras.Sequential([backbone, layers.Dense(5, activation="softmax")])
source_model.compile(optimizer=keras.optimizers.Adam(3e-3),
                     loss="sparse_categorical_crossentropy", metrics=["accuracy"])
h = source_model.fit(x_src, y_src, epochs=12, batch_size=64, verbose=0)
print("source accuracy %.3f" % h.history["accuracy"][-1])

# %% new head, backbone frozen
train_ds = (tf.data.Dataset.from_tensor_slices((x_tr, y_tr))
            .shuffle(len(x_tr), seed=1).batch(32))
test_ds = tf.data.Dataset.from_tensor_slices((x_te, y_te)).batch(128)

backbone.trainable = False
inputs = keras.Input((8, 8, 1))
feats = backbone(inputs, training=False)
outputs = layers.Dense(5, activation="softmax", name="head")(feats)
model = keras.Model(inputs, outputs)

model.compile(optimizer=keras.optimizers.Adam(1e-2),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, epochs=HEAD_EPOCHS, verbose=2)
head_acc = model.evaluate(test_ds, verbose=0)[1]
print("test accuracy with frozen backbone: %.3f" % head_acc)

# %% fine-tune everything at a smaller rate
backbone.trainable = True
model.optimizer.learning_rate = 2e-3
model.summary(show_trainable=True)
model.fit(train_ds, epochs=HEAD_EPOCHS + TUNE_EPOCHS,
          initial_epoch=HEAD_EPOCHS, verbose=2)

# %%
final_acc = model.evaluate(test_ds, verbose=0)[1]
majority = np.mean(y_te == np.bincount(y_tr).argmax())
print("majority class: %.3f" % majority)
print("test accuracy after fine-tuning: %.3f" % final_acc)
