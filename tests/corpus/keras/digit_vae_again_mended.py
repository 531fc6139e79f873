import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

tf.keras.utils.set_random_seed(3)

LATENT = 4
EPOCHS = 40
digits = load_digits()
pixels = (digits.data / 16.0).astype("float32")
order = np.random.permutation(len(pixels))
train_idx, test_idx = order[:1400], order[1400:]
batches = tf.data.Dataset.from_tensor_slices(pixels[train_idx]).shuffle(1400).batch(64)

L = tf.keras.layers
encoder = tf.keras.Sequential([
    L.Input((64,)),
    L.Dense(128, activation="relu"),
    L.Dense(64, activation="relu"),
    L.Dense(2 * LATENT),
])
decoder = tf.keras.Sequential([
    L.Input((LATENT,)),
    L.Dense(64, activation="relu"),
    L.Dense(128, activation="relu"),
    L.Dense(64),
])
optimizer = tf.keras.optimizers.Adam(2e-3)
variables = encoder.trainable_variables + decoder.trainable_variables


def encode(x):
    return tf.split(encoder(x), 2, axis=1)


def elbo_terms(x):
    mean, logvar = encode(x)
    z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
    logits = decoder(z)
    bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
    recon = tf.reduce_sum(bce, axis=1)
    kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=1)
    return recon, kl


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        recon, kl = elbo_terms(x)
        loss = tf.reduce_mean(recon + kl)
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(grads, variables))
    return loss, tf.reduce_mean(recon), tf.reduce_mean(kl)


for epoch in range(EPOCHS):
    logs = np.array([[float(v) for v in train_step(x)] for x in batches]).mean(0)
    if (epoch + 1) % 8 == 0:
        print(f"epoch {epoch + 1:2d} loss {logs[0]:.4f} recon {logs[1]:.4f} kl {logs[2]:.4f}")

test_x = pixels[test_idx]
code, _ = encode(test_x)
rebuilt = tf.sigmoid(decoder(code)).numpy()
mse = np.mean((rebuilt - test_x) ** 2)
mean_mse = np.mean((pixels[train_idx].mean(0) - test_x) ** 2)

train_code, _ = encode(pixels[train_idx])
probe = LogisticRegression(max_iter=2000).fit(train_code.numpy(), digits.target[train_idx])
probe_acc = probe.score(code.numpy(), digits.target[test_idx])

print(f"test reconstruction mse {mse:.4f} (mean image {mean_mse:.4f})")
print(f"std of latent means {np.std(code.numpy(), axis=0).round(3)}")
print(f"linear probe accuracy on latents {probe_acc:.4f}")
