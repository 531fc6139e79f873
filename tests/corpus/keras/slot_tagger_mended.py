import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers

VOCAB, LENGTH, TAGS = 200, 18, 6


def make_sentences(n, seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(1, VOCAB, size=(n, LENGTH))
    prev = np.roll(tokens, 1, axis=1)
    prev[:, 0] = 0
    nxt = np.roll(tokens, -1, axis=1)
    nxt[:, -1] = 0
    group = (tokens % 3) * 2
    flag = ((prev % 4 < 2) ^ (nxt % 4 < 2)).astype(int)
    return tokens, group + flag


class ContextBlock(layers.Layer):
    def __init__(self, width, kernel, rate):
        super().__init__()
        self.conv = layers.Conv1D(width, kernel, padding="same", activation="relu")
        self.mix = layers.Dense(width)
        self.norm = layers.LayerNormalization()
        self.drop = layers.Dropout(rate)

    def call(self, x, training=False):
        h = self.mix(self.conv(x))
        return self.norm(x + self.drop(h, training=training))


class Tagger(keras.Model):
    def __init__(self, width=20, depth=2, rate=0.05):
        super().__init__()
        self.embed = layers.Embedding(VOCAB, width)
        self.blocks = [ContextBlock(width, 3, rate) for _ in range(depth)]
        self.out = layers.Dense(TAGS)

    def call(self, tokens, training=False):
        h = self.embed(tokens)
        for block in self.blocks:
            h = block(h, training=training)
        return self.out(h)


def train(model, x, y, x_val, y_val, epochs):
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model.fit(
        x, y, validation_data=(x_val, y_val), epochs=epochs, batch_size=64, verbose=2
    )


def exact_match(model, x, y):
    pred = model.predict(x, verbose=0).argmax(-1)
    return (pred == y).mean(), (pred == y).all(axis=1).mean()


if __name__ == "__main__":
    keras.utils.set_random_seed(21)
    x, y = make_sentences(3000, 1)
    x_val, y_val = make_sentences(400, 2)
    x_test, y_test = make_sentences(600, 3)
    tagger = Tagger()
    train(tagger, x, y, x_val, y_val, epochs=14)
    acc, whole = exact_match(tagger, x_test, y_test)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tagger.weights.h5")
        tagger.save_weights(path)
        served = Tagger()
        served.predict(x_test[:1], verbose=0)
        served.load_weights(path)
    served_acc, served_whole = exact_match(served, x_test, y_test)
    majority = np.bincount(y_test.ravel()).max() / y_test.size
    print("weights saved with the model:", tagger.count_params())
    print(f"token accuracy {acc:.3f}  whole sentences {whole:.3f}  majority tag {majority:.3f}")
    print(f"served copy: token accuracy {served_acc:.3f}  whole sentences {served_whole:.3f}")
