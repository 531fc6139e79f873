import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(9)


def feature_stack(width):
    return keras.Sequential([
        layers.Conv2D(width, 3, padding="same", activation="relu"),
        layers.Conv2D(width, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
    ], name="features")


def class_head(n_classes):
    return keras.Sequential([
        layers.Dropout(0.2),
        layers.Dense(n_classes, activation="softmax"),
    ], name="head")


def build_classifier(n_classes, width=16):
    inp = keras.Input((8, 8, 1))
    x = feature_stack(width)(inp)
    out = class_head(n_classes)(x)
    return keras.Model(inp, out)


class ConfidenceLog(keras.callbacks.Callback):
    """Share of validation pictures the sorting machine would take without a human."""

    def __init__(self, images, labels, threshold=0.9):
        super().__init__()
        self.images, self.labels, self.threshold = images, labels, threshold
        self.rows = []

    def on_epoch_end(self, epoch, logs=None):
        p = self.model.predict(self.images, verbose=0)
        sure = p.max(1) >= self.threshold
        right = p.argmax(1) == self.labels
        precision = right[sure].mean() if sure.any() else float("nan")
        self.rows.append((epoch, sure.mean(), precision))
        if epoch % 5 == 4:
            print(f"  epoch {epoch + 1}: taken {sure.mean():.3f} precision {precision:.3f} "
                  f"val_loss {logs['val_loss']:.4f}")


digits = load_digits()
images = (digits.images / 16.0).astype("float32")[..., None]
x_tr, x_te, y_tr, y_te = train_test_split(images, digits.target, test_size=0.25,
                                          random_state=0, stratify=digits.target)
x_tr, x_va, y_tr, y_va = train_test_split(x_tr, y_tr, test_size=0.2,
                                          random_state=0, stratify=y_tr)

model = build_classifier(10)
model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
log = ConfidenceLog(x_va, y_va)
model.fit(x_tr, y_tr, epochs=15, batch_size=32, validation_data=(x_va, y_va), verbose=0,
          callbacks=[log,
                     keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=3),
                     keras.callbacks.TerminateOnNaN()])

loss, acc = model.evaluate(x_te, y_te, verbose=0)
p = model.predict(x_te, verbose=0)
print(f"test loss {loss:.4f}  accuracy {acc:.4f}  mean confidence {p.max(1).mean():.4f}")
print(f"taken without a human: {np.mean(p.max(1) >= 0.9):.4f}")
