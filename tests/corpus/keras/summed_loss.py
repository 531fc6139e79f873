import argparse
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

ap = argparse.ArgumentParser()
ap.add_argument("--micro", type=int, default=8)
ap.add_argument("--accumulate", type=int, default=8)
ap.add_argument("--epochs", type=int, default=12)
ap.add_argument("--lr", type=float, default=0.1)
args = ap.parse_args()
keras.utils.set_random_seed(0)

x, y = load_breast_cancer(return_X_y=True)
x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=2, stratify=y)
mu, sd = x_tr.mean(0), x_tr.std(0)
x_tr, x_te = ((x_tr - mu) / sd).astype("float32"), ((x_te - mu) / sd).astype("float32")

model = keras.Sequential([keras.Input((30,)),
                          keras.layers.Dense(16, activation="relu"),
                          keras.layers.Dense(1)])
loss_fn = keras.losses.BinaryCrossentropy(from_logits=True, reduction="sum")
optimizer = keras.optimizers.SGD(args.lr, momentum=0.9)


@tf.function
def micro(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_fn(yb[:, None], model(xb, training=True))
    return loss, tape.gradient(loss, model.trainable_variables)


ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr.astype("float32")))
ds = ds.shuffle(len(x_tr), seed=3).batch(args.micro)
for epoch in range(args.epochs):
    total, seen, bucket = 0.0, 0, None
    for i, (xb, yb) in enumerate(ds, 1):
        loss, grads = micro(xb, yb)
        total += float(loss)
        bucket = grads if bucket is None else [a + g for a, g in zip(bucket, grads)]
        seen += len(xb)
        if i % args.accumulate == 0 or i == len(ds):
            optimizer.apply_gradients([(g / seen, v)
                                       for g, v in zip(bucket, model.trainable_variables)])
            bucket, seen = None, 0
    print(f"epoch {epoch} summed loss {total:.2f} per sample {total / len(x_tr):.4f}")
logit = model.predict(x_te, verbose=0)[:, 0]
print(f"test accuracy {np.mean((logit > 0) == y_te):.4f}  majority {max(y_te.mean(), 1 - y_te.mean()):.4f}")
