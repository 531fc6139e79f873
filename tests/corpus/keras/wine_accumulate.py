"""Wine cultivars; gradients summed over several micro batches before every update."""
import numpy as np
import tensorflow as tf
import keras
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(8)
X, y = load_wine(return_X_y=True)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, stratify=y, random_state=8)
mu, sd = X_tr.mean(0), X_tr.std(0)
X_tr, X_te = ((X_tr - mu) / sd).astype("float32"), ((X_te - mu) / sd).astype("float32")

MICRO, ACCUM = 4, 8
ds = tf.data.Dataset.from_tensor_slices((X_tr, y_tr)).shuffle(200).repeat(60).batch(MICRO)

model = keras.Sequential([keras.Input((13,)),
                          keras.layers.Dense(24, activation="silu"),
                          keras.layers.Dense(3)])
opt = keras.optimizers.SGD(0.2, momentum=0.9)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = ce(yb, model(xb, training=True)) / ACCUM
    for buf, g in zip(buffers, tape.gradient(loss, model.trainable_variables)):
        buf.assign_add(g)
    return loss * ACCUM


@tf.function
def update():
    opt.apply_gradients(zip(buffers, model.trainable_variables))
    for buf in buffers:
        buf.assign(tf.zeros_like(buf))


opt.build(model.trainable_variables)
running = []
for i, (xb, yb) in enumerate(ds, start=1):
    running.append(float(micro_step(xb, yb)))
    if i % ACCUM == 0:
        update()
    if i % 240 == 0:
        print(f"micro step {i}  loss {np.mean(running):.4f}")
        running.clear()

pred = model.predict(X_te, verbose=0).argmax(1)
print("test accuracy %.3f" % (pred == y_te).mean())
