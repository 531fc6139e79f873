import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
centres = 2 * rng.normal(size=(4, 12))
parts = [(centre + rng.normal(size=(400, 12))).astype("float32") for centre in centres]
x = np.concatenate(parts)
y = np.repeat(np.arange(4), 400)

train = tf.data.Dataset.from_tensor_slices((x, y))
train = train.batch(32).prefetch(2)

model = tf.keras.Sequential([
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(4),
])
model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train, epochs=3, verbose=2)
