"""Did the alarm fire before or after the operator logged in?  A little transformer on event logs."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SEQ, VOCAB, DIM = 14, 24, 32
ALARM, LOGIN = 1, 2


def event_logs(n, rng):
    x = rng.integers(3, VOCAB, size=(n, SEQ))
    y = rng.integers(0, 2, size=n)
    for i in range(n):
        first, second = np.sort(rng.choice(SEQ, 2, replace=False))
        if y[i]:
            x[i, first], x[i, second] = ALARM, LOGIN
        else:
            x[i, first], x[i, second] = LOGIN, ALARM
    return x.astype("int32"), y.astype("float32")


class Encoder(layers.Layer):
    def __init__(self, dim, heads=2, ff=64, rate=0.0, **kw):
        super().__init__(**kw)
        self.attn = layers.MultiHeadAttention(heads, dim // heads, dropout=rate)
        self.ffn = keras.Sequential([layers.Dense(ff, activation="gelu"), layers.Dense(dim)])
        self.n1 = layers.LayerNormalization(epsilon=1e-6)
        self.n2 = layers.LayerNormalization(epsilon=1e-6)

    def call(self, x, training=False):
        h = self.n1(x)
        x = x + self.attn(h, h, training=training)
        return x + self.ffn(self.n2(x))


class OrderModel(keras.Model):
    def __init__(self, depth=1):
        super().__init__()
        self.tokens = layers.Embedding(VOCAB, DIM)
        self.blocks = [Encoder(DIM) for _ in range(depth)]
        self.norm = layers.LayerNormalization()
        self.head = layers.Dense(1)

    def call(self, ids, training=False):
        x = self.tokens(ids)
        for block in self.blocks:
            x = block(x, training=training)
        x = tf.reduce_mean(self.norm(x), axis=1)
        return self.head(x)[:, 0]


def main():
    keras.utils.set_random_seed(6)
    rng = np.random.default_rng(6)
    x_train, y_train = event_logs(3000, rng)
    x_test, y_test = event_logs(800, rng)

    model = OrderModel()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")],
    )
    model.fit(x_train, y_train, batch_size=64, epochs=8,
              validation_data=(x_test, y_test), verbose=2)
    loss, acc = model.evaluate(x_test, y_test, verbose=0)
    print(f"test loss {loss:.4f}  accuracy {acc:.4f}  (prior {max(y_test.mean(), 1 - y_test.mean()):.4f})")


if __name__ == "__main__":
    main()
