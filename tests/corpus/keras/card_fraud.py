import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
rows = 4000
features = rng.normal(size=(rows, 12)).astype("float32")
score = features[:, 0] + 0.8 * features[:, 3] - 0.5 * features[:, 7] + 0.3 * rng.normal(size=rows)
fraud = (score > np.quantile(score, 0.94)).astype("int32")
weights = {0: 1.0, 1: float((fraud == 0).sum() / (fraud == 1).sum())}

model = tf.keras.Sequential([
    tf.keras.layers.Dense(32, activation="relu", input_shape=(12,)),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=[tf.keras.metrics.AUC(), "accuracy"])
model.fit(features[:3200], fraud[:3200], epochs=3, class_weight=weights, verbose=2)
print(model.evaluate(features[3200:], fraud[3200:], verbose=0))
