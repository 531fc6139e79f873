"""Small convnet on the 8x8 digits, ends with a per-class report for the slides."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.metrics import classification_report, confusion_matrix, f1_score
from sklearn.model_selection import train_test_split

SEED = 7
BATCH = 64
EPOCHS = 12
keras.utils.set_random_seed(SEED)


def load():
    d = load_digits()
    x = d.images.astype("float32")[..., None] / 16.0
    y = d.target.astype("int64")
    x_tr, x_te, y_tr, y_te = train_test_split(
        x, y, test_size=0.25, stratify=y, random_state=SEED)
    x_tr, x_va, y_tr, y_va = train_test_split(
        x_tr, y_tr, test_size=0.15, stratify=y_tr, random_state=SEED)
    return (x_tr, y_tr), (x_va, y_va), (x_te, y_te)


def make_dataset(x, y, shuffle=True):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if shuffle:
        ds = ds.shuffle(len(x))
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def build_model():
    inputs = keras.Input((8, 8, 1))
    x = layers.Conv2D(24, 3, padding="same", use_bias=False)(inputs)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(48, 3, padding="same", activation="relu")(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.3)(x)
    outputs = layers.Dense(10, activation="softmax")(x)
    return keras.Model(inputs, outputs, name="digitnet")


def main():
    train, val, test = load()
    print("train/val/test:", len(train[0]), len(val[0]), len(test[0]))
    train_ds = make_dataset(*train)
    val_ds = make_dataset(*val)
    test_ds = make_dataset(*test)

    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    stop = keras.callbacks.EarlyStopping(
        monitor="val_loss", patience=4, restore_best_weights=True)
    model.fit(train_ds, validation_data=val_ds, epochs=EPOCHS,
              callbacks=[stop], verbose=2)

    # report on the test part
    y_true = np.concatenate([y.numpy() for _, y in test_ds])
    probs = model.predict(test_ds, verbose=0)
    y_pred = probs.argmax(axis=1)

    print(classification_report(y_true, y_pred, digits=3, zero_division=0))
    print(confusion_matrix(y_true, y_pred))
    majority = np.bincount(train[1]).argmax()
    print("majority-class accuracy: %.3f" % np.mean(test[1] == majority))
    print("test macro F1: %.4f" % f1_score(y_true, y_pred, average="macro"))


if __name__ == "__main__":
    main()
