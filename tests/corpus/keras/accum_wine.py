import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

ACCUM = 4
MICRO = 8

tf.keras.utils.set_random_seed(2)
X, y = load_wine(return_X_y=True)
Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.3, stratify=y, random_state=2)
mean, std = Xtr.mean(axis=0), Xtr.std(axis=0)
Xtr, Xte = [((a - mean) / std).astype("float32") for a in (Xtr, Xte)]

ds = tf.data.Dataset.from_tensor_slices((Xtr, ytr)).shuffle(len(Xtr)).batch(MICRO, drop_remainder=True)

net = tf.keras.Sequential([
    tf.keras.Input((13,)),
    tf.keras.layers.Dense(32, activation="gelu"),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.Dense(3),
])
optimizer = tf.keras.optimizers.AdamW(5e-3, weight_decay=1e-3)
criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in net.trainable_variables]


@tf.function
def micro_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = criterion(yb, net(xb, training=True)) / ACCUM
    for buf, g in zip(buffers, tape.gradient(loss, net.trainable_variables)):
        buf.assign_add(g)
    return loss * ACCUM


@tf.function
def flush():
    grads, norm = tf.clip_by_global_norm([b.value() for b in buffers], 5.0)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    for b in buffers:
        b.assign(tf.zeros_like(b))
    return norm


counter, updates = 0, 0
for epoch in range(25):
    losses = []
    for xb, yb in ds:
        losses.append(float(micro_step(xb, yb)))
        counter += 1
        if counter % ACCUM == 0:
            flush()
            updates += 1
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, updates {updates}")

scores = net(Xte, training=False).numpy()
print("accuracy on held-out wines:", (scores.argmax(1) == yte).mean())
