import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(13)

BITS = 24
SECRET = [3, 11, 19]
STEPS = 150


def endless(seed):
    def gen():
        rng = np.random.default_rng(seed)
        while True:
            x = rng.choice([-1.0, 1.0], size=(64, BITS)).astype("float32")
            yield x, x[:, SECRET].prod(axis=1, keepdims=True)
    return tf.data.Dataset.from_generator(
        gen,
        output_signature=(
            tf.TensorSpec((64, BITS), tf.float32),
            tf.TensorSpec((64, 1), tf.float32),
        ),
    ).prefetch(4)


@keras.saving.register_keras_serializable()
class SignAccuracy(keras.metrics.Metric):
    def __init__(self, name="sign_acc", **kw):
        super().__init__(name=name, **kw)
        self.right = self.add_weight(name="right", initializer="zeros")
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        ok = tf.cast(tf.sign(y_true) == tf.sign(y_pred), tf.float32)
        self.right.assign_add(tf.reduce_sum(ok))
        self.seen.assign_add(tf.cast(tf.size(ok), tf.float32))

    def result(self):
        return self.right / tf.maximum(self.seen, 1.0)

    def reset_state(self):
        self.right.assign(0.0)
        self.seen.assign(0.0)


class StopWhenSolved(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if logs["val_sign_acc"] > 0.99:
            print(f"solved in round {epoch + 1}")
            self.model.stop_training = True


model = keras.Sequential([
    keras.Input((BITS,)),
    keras.layers.Dense(256, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(
    optimizer=keras.optimizers.SGD(0.1, momentum=0.5),
    loss="hinge",
    metrics=[SignAccuracy()],
)
model.fit(
    endless(0),
    steps_per_epoch=STEPS,
    validation_data=endless(1),
    validation_steps=20,
    epochs=60,
    verbose=2,
    callbacks=[StopWhenSolved()],
)

rng = np.random.default_rng(99)
x = rng.choice([-1.0, 1.0], size=(4000, BITS)).astype("float32")
y = x[:, SECRET].prod(axis=1)
acc = np.mean(np.sign(model.predict(x, verbose=0)[:, 0]) == y)
print("accuracy on 4000 fresh rows:", round(float(acc), 4))
# how much each input bit matters to the trained net
flip = []
for b in range(BITS):
    x2 = x.copy(); x2[:, b] *= -1
    flip.append(np.mean(np.sign(model.predict(x2, verbose=0, batch_size=1000)[:, 0]) != np.sign(y)))
print("bits in use:", [b for b in range(BITS) if flip[b] > 0.5])
