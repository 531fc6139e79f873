"""SGD with warm restarts, heavy dropout and label smoothing: training accuracy stays below the test's."""
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

tf.keras.utils.set_random_seed(6)
X, y = load_digits(return_X_y=True)
X = (X / 8.0 - 1.0).astype("float32")
perm = np.random.permutation(len(X))
X, y = X[perm], y[perm]
ntrain, batch = 1300, 50
steps = ntrain // batch

schedule = tf.keras.optimizers.schedules.CosineDecayRestarts(0.2, first_decay_steps=4 * steps, t_mul=2.0, m_mul=1.0)
opt = tf.keras.optimizers.SGD(schedule, momentum=0.9)
net = tf.keras.Sequential([
    tf.keras.Input((64,)),
    tf.keras.layers.Dropout(0.3),
    tf.keras.layers.Dense(128, activation="relu"),
    tf.keras.layers.Dropout(0.5),
    tf.keras.layers.Dense(10),
])
loss_fn = tf.keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = net(xb, training=True)
        loss = loss_fn(tf.one_hot(yb, 10), logits)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss, tf.reduce_mean(tf.cast(tf.argmax(logits, 1) == yb, tf.float32))


for epoch in range(28):
    order = np.random.permutation(ntrain)
    logs = []
    for s in range(steps):
        idx = order[s * batch:(s + 1) * batch]
        logs.append([float(v) for v in train_step(tf.constant(X[idx]), tf.constant(y[idx]))])
    loss, acc = np.mean(logs, axis=0)
    test = np.mean(net(X[ntrain:], training=False).numpy().argmax(1) == y[ntrain:])
    print(f"{epoch:2d} lr {float(schedule(opt.iterations)):.4f} loss {loss:.3f} train {acc:.3f} test {test:.3f}")
