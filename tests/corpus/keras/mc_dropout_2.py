import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def build(rate=0.3):
    inp = keras.Input((64,))
    h = layers.Rescaling(1 / 16.0)(inp)
    h = layers.Dense(128, activation="relu")(h)
    h = layers.Dropout(rate)(h)
    h = layers.Dense(128, activation="relu")(h)
    h = layers.Dropout(rate)(h)
    return keras.Model(inp, layers.Dense(10)(h))


class UncertainClassifier:
    def __init__(self, passes=30):
        self.passes = passes
        self.model = build()

    def fit(self, x, y, epochs):
        self.model.compile(
            optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        self.model.fit(x, y, epochs=epochs, batch_size=64, verbose=2)

    def predict(self, x):
        draws = []
        for _ in range(self.passes):
            logits = self.model(x, training=True)
            draws.append(keras.ops.convert_to_numpy(keras.ops.softmax(logits)))
        draws = np.stack(draws)
        mean = draws.mean(axis=0)
        entropy = -(mean * np.log(mean + 1e-9)).sum(axis=1)
        return mean, entropy


def main():
    keras.utils.set_random_seed(17)
    x, y = load_digits(return_X_y=True)
    x = x.astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, random_state=17)
    clf = UncertainClassifier()
    clf.fit(x_tr, y_tr, epochs=20)
    prob, entropy = clf.predict(x_te)
    right = prob.argmax(1) == y_te
    keep = entropy <= np.quantile(entropy, 0.9)
    print(f"accuracy {right.mean():.4f}")
    print(f"accuracy on the 90% most certain {right[keep].mean():.4f}")
    print(f"mean entropy right {entropy[right].mean():.3f} wrong {entropy[~right].mean():.3f}")


main()
