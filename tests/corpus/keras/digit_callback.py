import numpy as np
import tensorflow as tf
from tensorflow import keras
from sklearn.datasets import load_digits
from sklearn.metrics import classification_report, f1_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(42)
BATCH = 32


def get_split():
    X, y = load_digits(return_X_y=True)
    X = (X / 16.0).astype("float32").reshape(-1, 8, 8, 1)
    return train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)


def augment(x, y):
    x = x + tf.random.normal(tf.shape(x), stddev=0.05)
    return x, y


def pipeline(x, y, noisy=False):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(len(x))
    if noisy:
        ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


class MacroF1(keras.callbacks.Callback):
    """Macro F1 on a dataset after each epoch; keeps the weights of the best epoch."""

    def __init__(self, dataset):
        super().__init__()
        self.dataset = dataset
        self.best = -1.0
        self.best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        truth = np.concatenate([labels.numpy() for _, labels in self.dataset])
        guess = self.model.predict(self.dataset, verbose=0).argmax(axis=1)
        score = f1_score(truth, guess, average="macro")
        print(f"  epoch {epoch + 1}: loss {logs['loss']:.4f}  macro f1 {score:.4f}")
        if score > self.best:
            self.best = score
            self.best_weights = self.model.get_weights()

    def on_train_end(self, logs=None):
        self.model.set_weights(self.best_weights)
        truth = np.concatenate([labels.numpy() for _, labels in self.dataset])
        guess = self.model.predict(self.dataset, verbose=0).argmax(axis=1)
        print(classification_report(truth, guess, digits=3))


def make_model():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(16, 3, activation="relu", padding="same"),
        keras.layers.Conv2D(32, 3, activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dropout(0.25),
        keras.layers.Dense(10, activation="softmax"),
    ])


X_train, X_val, y_train, y_val = get_split()
train_ds = pipeline(X_train, y_train, noisy=True)
val_ds = pipeline(X_val, y_val)

model = make_model()
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
f1 = MacroF1(val_ds)
model.fit(train_ds, epochs=12, verbose=0, callbacks=[f1])
print("best macro f1:", round(f1.best, 4))
