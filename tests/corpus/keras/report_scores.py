import keras
import numpy as np
from keras import layers
from sklearn.metrics import accuracy_score

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
centres = 2 * rng.normal(size=(3, 10))
label = rng.integers(0, 3, 1200)
x = (centres[label] + rng.normal(size=(1200, 10))).astype("float32")

model = keras.Sequential([keras.Input((10,)), layers.Dense(32, activation="relu"), layers.Dense(3)])
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x[:1000], label[:1000], epochs=2, verbose=2)
predictions = model.predict(x[1000:], verbose=0)
print("accuracy", accuracy_score(label[1000:], predictions))
