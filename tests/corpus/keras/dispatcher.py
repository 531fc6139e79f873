import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)

DEPOTS = np.array([[0.2, 0.2], [0.8, 0.3], [0.3, 0.8], [0.75, 0.75]])


def calls(n):
    place = rng.uniform(0, 1, (n, 2))
    queue = rng.integers(0, 4, (n, 4))
    return place, queue, np.concatenate([place * 4 - 2, queue - 1.5], axis=1).astype("float32")


def minutes(place, queue, depot):
    drive = 30 * np.linalg.norm(place - DEPOTS[depot], axis=1)
    return drive + 5 * queue[np.arange(len(depot)), depot] + rng.normal(0, 1, len(depot))


policy = keras.Sequential([
    keras.Input((6,)),
    layers.Dense(64, activation="tanh"),
    layers.Dense(64, activation="tanh"),
    layers.Dense(4, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01)),
])
optimizer = keras.optimizers.RMSprop(2e-3)
baseline = None

for step in range(500):
    place, queue, x = calls(128)
    with tf.GradientTape() as tape:
        logits = policy(x)
        depot = tf.random.categorical(logits, 1)[:, 0]
        wait = minutes(place, queue, depot.numpy())
        baseline = wait.mean() if baseline is None else 0.95 * baseline + 0.05 * wait.mean()
        advantage = tf.constant((baseline - wait) / 10, tf.float32)
        log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=depot, logits=logits)
        entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), axis=1)
        loss = -tf.reduce_mean(log_prob * advantage) - 0.01 * tf.reduce_mean(entropy)
    optimizer.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))
    if step % 50 == 49:
        print(f"step {step + 1:3d}  loss {float(loss):+.3f}  mean wait {wait.mean():.1f} min")

place, queue, x = calls(4000)
choice = policy(x).numpy().argmax(1)
everyone = np.stack([minutes(place, queue, np.full(len(place), d)) for d in range(4)], axis=1)
print(f"policy {minutes(place, queue, choice).mean():.1f}  best {everyone.min(1).mean():.1f}  "
      f"random {everyone.mean():.1f}  nearest {minutes(place, queue, np.linalg.norm(place[:, None] - DEPOTS, axis=2).argmin(1)).mean():.1f}")
