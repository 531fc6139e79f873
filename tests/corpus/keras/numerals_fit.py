import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(0)


class MicroBatchModel(keras.Model):
    """Applies the optimizer once every `n_steps` small batches."""

    def __init__(self, net, n_steps):
        super().__init__()
        self.net = net
        self.n_steps = n_steps
        self.seen = tf.Variable(0, trainable=False, dtype=tf.int32)
        self.grad_acc = [tf.Variable(tf.zeros(v.shape), trainable=False)
                         for v in net.trainable_variables]

    def call(self, x, training=False):
        return self.net(x, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred)
            scaled = loss / self.n_steps
        grads = tape.gradient(scaled, self.net.trainable_variables)
        for acc, g in zip(self.grad_acc, grads):
            acc.assign_add(g)
        self.seen.assign_add(1)
        tf.cond(tf.equal(self.seen % self.n_steps, 0), self.apply_accumulated, lambda: None)
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    def apply_accumulated(self):
        self.optimizer.apply_gradients(
            [(acc.value(), v) for acc, v in zip(self.grad_acc, self.net.trainable_variables)])


x, y = load_digits(return_X_y=True)
x = (x / 16.0).reshape(-1, 8, 8, 1).astype("float32")
x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.2, random_state=0, stratify=y)

net = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(16, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(64, activation="relu"),
    layers.Dense(10),
])
model = MicroBatchModel(net, n_steps=4)
model.compile(optimizer=keras.optimizers.SGD(0.05, momentum=0.9),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
model.fit(x_tr, y_tr, batch_size=16, epochs=12, validation_data=(x_te, y_te), verbose=2)
