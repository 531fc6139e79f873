# Digits in bfloat16 with accumulated micro-batches and a fixed filter bank as the stem.
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(9)
keras.mixed_precision.set_global_policy("mixed_bfloat16")

MICRO, ACCUM, EPOCHS = 16, 4, 16         # effective batch of 64

images, labels = load_digits(return_X_y=True)
images = (images.reshape(-1, 8, 8, 1) / 8.0 - 1.0).astype("float32")
x_tr, x_te, y_tr, y_te = train_test_split(images, labels, test_size=.25, stratify=labels,
                                          random_state=0)
x_tr, x_va, y_tr, y_va = train_test_split(x_tr, y_tr, test_size=.15, stratify=y_tr, random_state=0)


def gabor_bank(n=12, size=5):
    """Oriented filters; kept as they are, only the layers above are learned."""
    r = np.arange(size) - size // 2
    yy, xx = np.meshgrid(r, r, indexing="ij")
    bank = []
    for k in range(n):
        a = np.pi * (k // 2) / (n // 2)
        u = xx * np.cos(a) + yy * np.sin(a)
        phase = np.pi / 2 * (k % 2)
        g = np.exp(-(xx ** 2 + yy ** 2) / 5.0) * np.cos(1.6 * u + phase)
        g -= g.mean()
        bank.append(g / np.abs(g).sum())
    return np.stack(bank, -1)[:, :, None, :].astype("float32")


stem = layers.Conv2D(12, 5, padding="same", use_bias=False, trainable=False, name="gabor")

model = keras.Sequential([
    keras.Input((8, 8, 1)),
    stem,
    layers.ReLU(),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.SeparableConv2D(48, 3, padding="same", activation="relu"),
    layers.LayerNormalization(),
    layers.Flatten(),
    layers.Dropout(.3),
    layers.Dense(10),
    layers.Activation("softmax", dtype="float32"),
])
stem.set_weights([gabor_bank()])
frozen = stem.get_weights()[0].copy()

optimizer = keras.optimizers.Nadam(3e-3, gradient_accumulation_steps=ACCUM)
model.compile(optimizer=optimizer,
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=False),
              metrics=["accuracy"])
print("trainable", sum(int(np.prod(w.shape)) for w in model.trainable_weights),
      "fixed", sum(int(np.prod(w.shape)) for w in model.non_trainable_weights),
      "| compute", model.layers[1].compute_dtype, "| variables", model.layers[1].variable_dtype)


class Summary(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 4 == 3:
            updates = int(self.model.optimizer.iterations.numpy())
            print(f"epoch {epoch + 1:3d}  updates {updates:5d}  loss {logs['loss']:.4f}  "
                  f"val {logs['val_accuracy']:.3f}")


usable = len(x_tr) // (MICRO * ACCUM) * (MICRO * ACCUM)
model.fit(x_tr[:usable], y_tr[:usable], batch_size=MICRO, epochs=EPOCHS, verbose=0,
          validation_data=(x_va, y_va), callbacks=[Summary()])

assert np.array_equal(frozen, stem.get_weights()[0])
loss, acc = model.evaluate(x_te, y_te, batch_size=128, verbose=0)
print(f"test accuracy {acc:.3f}  loss {loss:.3f}  "
      f"(largest class {np.bincount(y_te).max() / len(y_te):.3f})")
