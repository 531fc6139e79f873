"""Monte-Carlo dropout (Gal & Ghahramani 2016) for rip-current warnings: predictive entropy and rejection."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

T = 30
P_DROP = 0.25
keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)


def beach(n):
    period = rng.uniform(4, 16, n)
    height = rng.gamma(3.0, 0.5, n)
    angle = rng.uniform(-60, 60, n)
    tide = rng.uniform(-1, 1, n)
    bar = rng.uniform(0, 1, n)
    z = 0.25 * (period - 9) + 1.6 * (height - 1.5) - 1.2 * np.abs(angle) / 30 + 1.5 * bar * (tide < 0) + 0.8
    y = (z + rng.logistic(0, 0.15, n) > 0).astype("float32")
    x = np.stack([period, height, angle, tide, bar], 1)
    return x.astype("float32"), y[:, None]


x, y = beach(4000)
mu, sd = x[:3000].mean(0), x[:3000].std(0)
x = (x - mu) / sd
train = tf.data.Dataset.from_tensor_slices((x[:3000], y[:3000])).shuffle(3000).batch(50)
x_test, y_test = tf.constant(x[3000:]), y[3000:, 0]

net = keras.Sequential([
    keras.Input((5,)),
    layers.Dense(64, activation="relu"),
    layers.Dropout(P_DROP),
    layers.Dense(64, activation="relu"),
    layers.Dropout(P_DROP),
    layers.Dense(1),
])
opt = keras.optimizers.AdamW(2e-3, weight_decay=1e-4)


@tf.function
def update(xb, yb):
    with tf.GradientTape() as tape:
        logit = net(xb, training=True)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=yb, logits=logit))
    grads = tape.gradient(loss, net.trainable_weights)
    opt.apply_gradients(zip(grads, net.trainable_weights))
    return loss


@tf.function
def sample(xb):
    return tf.sigmoid(net(xb, training=True))[:, 0]


def mc_predict(xb):
    draws = np.stack([sample(xb).numpy() for _ in range(T)])
    p = draws.mean(0)
    entropy = -(p * np.log(p + 1e-9) + (1 - p) * np.log(1 - p + 1e-9))
    return p, entropy


for epoch in range(1, 13):
    losses = [float(update(xb, yb)) for xb, yb in train]
    if epoch % 2 == 0:
        p, _ = mc_predict(x_test)
        print(f"epoch {epoch:2d} loss {np.mean(losses):.4f} accuracy of the mean {np.mean((p > 0.5) == y_test):.3f}")

p, entropy = mc_predict(x_test)
right = (p > 0.5) == y_test
order = np.argsort(entropy)
for keep in (1.0, 0.8, 0.6):
    kept = order[:int(keep * len(order))]
    print(f"keep {keep:.0%}: accuracy {right[kept].mean():.3f}")
