"""Digits under heavy noise. The noise grows with the epochs, the labels are mixed (mixup), the weights are averaged
by the optimizer, and train accuracy is much lower than test accuracy because of all that. Keras 3, own train_step."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(17)
EPOCHS, BATCH, LAST_NOISE = 30, 64, 0.35


class ShiftedConv(layers.Layer):
    """Depthwise 3x3 followed by 1x1, with a learned gate on the input."""

    def __init__(self, filters):
        super().__init__()
        self.dw = layers.DepthwiseConv2D(3, padding="same", use_bias=False)
        self.pw = layers.Conv2D(filters, 1)
        self.norm = layers.LayerNormalization()

    def build(self, shape):
        self.gate = self.add_weight(shape=(shape[-1],), initializer="zeros", name="gate")
        self.dw.build(shape)
        self.pw.build(shape)
        self.norm.build(self.pw.compute_output_shape(shape))

    def call(self, x):
        return keras.activations.gelu(self.norm(self.pw(self.dw(x) + keras.ops.sigmoid(self.gate) * x)))


class NoisyMixup(keras.Model):
    def __init__(self, core, **kw):
        super().__init__(**kw)
        self.core = core
        self.noise = self.add_weight(shape=(), initializer="zeros", trainable=False, name="noise")

    def call(self, x, training=False):
        return self.core(x, training=training)

    def train_step(self, data):
        x, y = data
        n = tf.shape(x)[0]
        lam = tf.random.uniform((n, 1), 0.6, 1.0)
        other = tf.random.shuffle(tf.range(n))
        x = lam[..., None, None] * x + (1 - lam[..., None, None]) * tf.gather(x, other)
        y = lam * y + (1 - lam) * tf.gather(y, other)
        x = x + self.noise * tf.random.normal(tf.shape(x))
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=logits)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        for m in self.metrics:
            m.update_state(loss) if m.name == "loss" else m.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


class NoiseSchedule(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.model.noise.assign(LAST_NOISE * min(1.0, epoch / (0.6 * EPOCHS)))

    def on_epoch_end(self, epoch, logs=None):
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d}  noise {float(self.model.noise):.2f}  loss {logs['loss']:.3f}  "
                  f"acc {logs['acc']:.3f}  val loss {logs['val_loss']:.3f}  val acc {logs['val_acc']:.3f}")


def main():
    d = load_digits()
    x = (d.images / 16.0)[..., None].astype("float32")
    xtr, xte, ytr, yte = train_test_split(x, d.target, test_size=0.35, stratify=d.target, random_state=3)
    xtr, xva, ytr, yva = train_test_split(xtr, ytr, test_size=0.15, stratify=ytr, random_state=3)
    rng = np.random.default_rng(3)
    spoil = lambda a: a + LAST_NOISE * rng.standard_normal(a.shape).astype("float32")
    xva, xte = spoil(xva), spoil(xte)
    hot = lambda y: keras.utils.to_categorical(y, 10)

    inp = keras.Input((8, 8, 1))
    h = layers.Conv2D(32, 3, padding="same")(inp)
    h = ShiftedConv(48)(h)
    h = layers.AveragePooling2D(2)(h)
    h = ShiftedConv(96)(h)
    h = layers.Flatten()(h)
    core = keras.Model(inp, layers.Dense(10)(layers.Dropout(0.3)(h)))

    model = NoisyMixup(core)
    steps = EPOCHS * int(np.ceil(len(xtr) / BATCH))
    model.compile(
        optimizer=keras.optimizers.Lion(keras.optimizers.schedules.CosineDecay(4e-4, steps), weight_decay=0.02,
                                        use_ema=True, ema_momentum=0.98),
        loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.05),
        metrics=[keras.metrics.CategoricalAccuracy(name="acc")])
    model.fit(xtr, hot(ytr), validation_data=(xva, hot(yva)), epochs=EPOCHS, batch_size=BATCH, verbose=0,
              callbacks=[NoiseSchedule()])

    acc = (model.predict(xte, verbose=0).argmax(1) == yte).mean()
    lin = LogisticRegression(max_iter=500, C=0.1).fit(spoil(xtr).reshape(len(xtr), -1), ytr)
    print(f"TEST accuracy on noisy digits {acc:.3f}   logistic regression on noisy pixels "
          f"{lin.score(xte.reshape(len(xte), -1), yte):.3f}")


if __name__ == "__main__":
    main()
