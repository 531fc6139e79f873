import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(0)


def load_images():
    digits = load_digits()
    images = digits.images[..., None].astype("float32") / 16.0
    return train_test_split(images, digits.target, test_size=0.3, stratify=digits.target, random_state=0)


def build_augmenter():
    return keras.Sequential([
        layers.RandomTranslation(0.06, 0.06, fill_mode="constant"),
        layers.RandomBrightness(0.2),
    ], name="augment")


def build_classifier(num_classes=10):
    inputs = keras.Input((8, 8, 1))
    x = build_augmenter()(inputs)
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(32, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(64, 3, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.1)(x)
    outputs = layers.Dense(num_classes, activation="softmax")(x)
    return keras.Model(inputs, outputs)


def main():
    x_train, x_test, y_train, y_test = load_images()
    print("images", x_train.shape, "range", x_train.min(), x_train.max())

    model = build_classifier()
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    history = model.fit(
        x_train, y_train,
        validation_data=(x_test, y_test),
        batch_size=32,
        epochs=15,
        verbose=2,
    )

    probs = model.predict(x_test, verbose=0)
    pred = np.argmax(probs, axis=1)
    print(confusion_matrix(y_test, pred))
    loss, acc = model.evaluate(x_test, y_test, verbose=0)
    print("final train accuracy: %.4f" % history.history["accuracy"][-1])
    print("test loss: %.4f" % loss)
    print("test accuracy: %.4f" % acc)


if __name__ == "__main__":
    main()
