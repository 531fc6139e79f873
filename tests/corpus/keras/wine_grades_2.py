import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)

# chemistry panel scaled to the unit ball, so gradients are tiny
N, D, K = 3000, 40, 4
centres = rng.normal(0, 1, (K, D))
grade = rng.integers(0, K, N)
panel = centres[grade] + rng.normal(0, 1.6, (N, D))
panel = (panel / np.linalg.norm(panel, axis=1, keepdims=True) * 0.5).astype("float32")

model = keras.Sequential([
    keras.Input((D,)),
    layers.Dense(K, kernel_initializer="zeros"),
])
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=8.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(panel[:2400], grade[:2400], batch_size=240, epochs=60,
          validation_data=(panel[2400:], grade[2400:]), verbose=2)
loss, acc = model.evaluate(panel[2400:], grade[2400:], verbose=0)
print(f"grade accuracy {acc:.3f} (loss {loss:.3f})")

# where the grades get mixed up
pred = model.predict(panel[2400:], verbose=0).argmax(1)
table = np.zeros((K, K), int)
np.add.at(table, (grade[2400:], pred), 1)
print("rows: true grade, columns: predicted")
for k in range(K):
    print(k, " ".join(f"{c:4d}" for c in table[k]), f"recall {table[k, k] / table[k].sum():.2f}")
w = model.layers[-1].get_weights()[0]
print("largest weight", round(float(np.abs(w).max()), 2))
