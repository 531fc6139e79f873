import numpy as np
import tensorflow as tf

SAMPLE_RATE = 400
KINDS = ["wail", "yelp", "hi-lo", "horn"]
rng = np.random.default_rng(21)
tf.random.set_seed(21)


def synth(kind):
    t = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    base = rng.uniform(30, 50)
    if kind == 0:
        freq = base + 20 * np.sin(2 * np.pi * 1.0 * t + rng.uniform(0, 6))
    elif kind == 1:
        freq = base + 20 * np.sin(2 * np.pi * 5.0 * t + rng.uniform(0, 6))
    elif kind == 2:
        freq = base + 20 * np.sign(np.sin(2 * np.pi * 2.0 * t + rng.uniform(0, 6)))
    else:
        freq = np.full_like(t, base)
    phase = 2 * np.pi * np.cumsum(freq) / SAMPLE_RATE
    return np.sin(phase) * rng.uniform(0.6, 1.4) + 0.4 * rng.normal(size=t.shape)


def features(wave, frame=40, hop=20):
    starts = range(0, len(wave) - frame + 1, hop)
    frames = np.stack([wave[s:s + frame] * np.hanning(frame) for s in starts])
    return np.log1p(np.abs(np.fft.rfft(frames, axis=1)))


def make_set(n):
    labels = rng.integers(0, len(KINDS), size=n)
    specs = np.stack([features(synth(k)) for k in labels])
    return specs.astype("float32"), labels.astype("int64")


def build():
    L = tf.keras.layers
    return tf.keras.Sequential([
        tf.keras.Input((19, 21)),
        L.Conv1D(32, 3, padding="same"),
        L.BatchNormalization(),
        L.ReLU(),
        L.Conv1D(32, 3, padding="same"),
        L.ReLU(),
        L.Flatten(),
        L.Dense(48),
        L.BatchNormalization(momentum=0.9),
        L.ReLU(),
        L.Dense(len(KINDS)),
    ])


x_train, y_train = make_set(1200)
x_live, y_live = make_set(240)
model = build()
optimizer = tf.keras.optimizers.Adam(1e-3)
criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = criterion(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def score_clip(x):
    return tf.nn.softmax(model(x, training=False))


stream = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1200, seed=2).batch(48)
for epoch in range(12):
    losses = [float(train_step(bx, by)) for bx, by in stream]
    print(f"epoch {epoch + 1:2d} loss {np.mean(losses):.4f}")

hits, surest = 0, []
for clip, label in zip(x_live, y_live):
    probs = score_clip(clip[None]).numpy()[0]
    hits += int(probs.argmax() == label)
    surest.append(probs.max())

print(f"live accuracy {hits / len(y_live):.4f} on {len(y_live)} clips")
print(f"mean top probability {np.mean(surest):.3f}")
print(f"most frequent kind {np.bincount(y_live).max() / len(y_live):.4f}")
