"""Large effective batch on a small machine: gradients summed over micro-batches."""
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

tf.random.set_seed(8)
np.random.seed(8)
MICRO, STEPS_PER_UPDATE, EPOCHS = 16, 4, 12

X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=8, stratify=y)
train = tf.data.Dataset.from_tensor_slices((X_train, y_train)).shuffle(2000).batch(MICRO, drop_remainder=True)

model = tf.keras.Sequential([
    tf.keras.Input((64,)),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(10),
])
criterion = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
train_loss = tf.keras.metrics.Mean()
train_acc = tf.keras.metrics.SparseCategoricalAccuracy()
accumulated = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


@tf.function
def micro_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = model(xb, training=True)
        loss = criterion(yb, logits)
        scaled = loss / STEPS_PER_UPDATE
    for acc, g in zip(accumulated, tape.gradient(scaled, model.trainable_variables)):
        acc.assign_add(g)
    train_loss.update_state(loss)
    train_acc.update_state(yb, logits)


def update():
    optimizer.apply_gradients([(tf.identity(a), v) for a, v in zip(accumulated, model.trainable_variables)])


for epoch in range(1, EPOCHS + 1):
    train_loss.reset_state()
    train_acc.reset_state()
    for i, (xb, yb) in enumerate(train, start=1):
        micro_step(xb, yb)
        if i % STEPS_PER_UPDATE == 0:
            update()
    test_acc = np.mean(np.argmax(model(X_test, training=False).numpy(), axis=1) == y_test)
    print(f"epoch {epoch:2d}  loss {train_loss.result():.4f}  acc {train_acc.result():.3f}  test acc {test_acc:.3f}")
