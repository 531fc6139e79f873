# Keyword-spotting toy: recognise which melodic pattern is in a short noisy clip.
import argparse
import numpy as np
import tensorflow as tf
import keras

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=8)
p.add_argument("--batch-size", type=int, default=40)
p.add_argument("--lr", type=float, default=2e-3)
p.add_argument("--noise", type=float, default=0.9)
p.add_argument("--seed", type=int, default=11)
args = p.parse_args()

keras.utils.set_random_seed(args.seed)
rng = np.random.default_rng(args.seed)

SR, N = 4000, 2000
PATTERNS = [(300, 300), (300, 900), (900, 300), (900, 900), (500, 1300), (1300, 500)]
K = len(PATTERNS)


def clip(label):
    f0, f1 = PATTERNS[label]
    jitter = rng.normal(1.0, 0.03)
    freq = np.linspace(f0 * jitter, f1 * jitter, N)
    phase = 2 * np.pi * np.cumsum(freq) / SR + rng.uniform(0, 2 * np.pi)
    return np.sin(phase) * rng.uniform(0.6, 1.2) + rng.normal(0, args.noise, N)


def dataset(n):
    labels = rng.integers(0, K, n)
    waves = np.stack([clip(c) for c in labels]).astype("float32")
    spec = tf.abs(tf.signal.stft(waves, 128, 64))
    feats = tf.math.log1p(spec).numpy()
    return feats, keras.utils.to_categorical(labels, K)


x_train, y_train = dataset(1200)
x_test, y_test = dataset(400)
mu, sd = x_train.mean((0, 1)), x_train.std((0, 1)) + 1e-5
x_train, x_test = (x_train - mu) / sd, (x_test - mu) / sd
print("features", x_train.shape, "labels", y_train.shape)

train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1200).batch(args.batch_size)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(args.batch_size)

net = keras.Sequential([
    keras.Input(x_train.shape[1:]),
    keras.layers.Conv1D(32, 5, padding="same", activation="relu"),
    keras.layers.MaxPooling1D(2),
    keras.layers.Conv1D(32, 5, padding="same", activation="relu"),
    keras.layers.Flatten(),
    keras.layers.Dropout(0.3),
    keras.layers.Dense(K),
])
opt = keras.optimizers.Adam(args.lr)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = net(x, training=True)
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, logits))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


def accuracy(y, logits):
    hits = tf.equal(tf.argmax(logits), tf.argmax(y))
    return tf.reduce_mean(tf.cast(hits, tf.float32))


def evaluate():
    accs, losses = [], []
    for x, y in test_ds:
        logits = net(x, training=False)
        losses.append(tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, logits)))
        accs.append(accuracy(y, logits))
    return float(np.mean(losses)), float(np.mean(accs))


for epoch in range(args.epochs):
    running = [float(train_step(x, y)) for x, y in train_ds]
    te_loss, te_acc = evaluate()
    print(f"epoch {epoch + 1:2d}  train_loss={np.mean(running):.4f}  "
          f"test_loss={te_loss:.4f}  test_acc={te_acc:.4f}")

print(f"final test accuracy: {te_acc:.4f}   chance: {1 / K:.4f}")
