import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

keras.utils.set_random_seed(41)


def objects(n, seed):
    rng = np.random.default_rng(seed)
    grid = np.mgrid[0:20, 0:20].astype("float32")
    cy, cx = rng.uniform(5, 15, (2, n, 1, 1))
    ry, rx = rng.uniform(2, 5, (2, n, 1, 1))
    dist = ((grid[0] - cy) / ry) ** 2 + ((grid[1] - cx) / rx) ** 2
    colour = rng.uniform(0.3, 1.0, (n, 1, 1, 3))
    photo = (dist < 1)[..., None] * colour + rng.normal(0, 0.1, (n, 20, 20, 3))
    sketch = (np.abs(dist - 1) < 0.35) + rng.normal(0, 0.1, (n, 20, 20))
    return photo.astype("float32"), sketch[..., None].astype("float32")


def tower(channels, name):
    return keras.Sequential([
        layers.Input((20, 20, channels)),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.Conv2D(32, 3, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(24, use_bias=False),
        layers.UnitNormalization(),
    ], name=name)


class Matcher(keras.Model):
    def __init__(self):
        super().__init__()
        self.photo = tower(3, "photo")
        self.sketch = tower(1, "sketch")
        self.log_scale = self.add_weight(shape=(), initializer=keras.initializers.Constant(float(np.log(10.0))), name="log_scale")
        self.track_loss = keras.metrics.Mean(name="loss")
        self.track_top1 = keras.metrics.Mean(name="top1")

    @property
    def metrics(self):
        return [self.track_loss, self.track_top1]

    def forward(self, data):
        photo, sketch = data
        scale = ops.exp(ops.minimum(self.log_scale, float(np.log(50.0))))
        sim = scale * ops.matmul(self.photo(photo), ops.transpose(self.sketch(sketch)))
        target = ops.arange(ops.shape(sim)[0])
        rows = keras.losses.sparse_categorical_crossentropy(target, sim, from_logits=True)
        cols = keras.losses.sparse_categorical_crossentropy(target, ops.transpose(sim), from_logits=True)
        top1 = ops.cast(ops.equal(ops.argmax(sim, axis=1), ops.cast(target, "int32")), "float32")
        return ops.mean(rows + cols) / 2, top1

    def _report(self, loss, top1):
        self.track_loss.update_state(loss)
        self.track_top1.update_state(top1)
        return {m.name: m.result() for m in self.metrics}

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss, top1 = self.forward(data)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        return self._report(loss, top1)

    def test_step(self, data):
        return self._report(*self.forward(data))


train = tf.data.Dataset.from_tensor_slices(objects(2048, 0)).shuffle(2048, seed=1).batch(128, drop_remainder=True)
test = tf.data.Dataset.from_tensor_slices(objects(512, 9)).batch(128)
steps = len(train)
epochs = 15
schedule = keras.optimizers.schedules.CosineDecay(
    1e-4, decay_steps=(epochs - 2) * steps, warmup_target=3e-3, warmup_steps=2 * steps)
model = Matcher()
model.compile(optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-3))
model.fit(train, validation_data=test, epochs=epochs, verbose=2)
print("scale", float(ops.exp(model.log_scale)))
