"""Sleep staging with few clicks: one epoch in twelve is scored by the nurse, the rest has weight 0 and a filler label."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)
STAGES, LONGEST, FEATURES, NONE = 3, 40, 5, -9.0
STAY = 0.9


class Nights(keras.utils.PyDataset):
    """Nights differ in length: short ones are filled up with NONE. Always in the same order."""

    def __init__(self, n, batch, scored, **kw):
        super().__init__(**kw)
        self.batch = batch
        self.x = np.full((n, LONGEST, FEATURES), NONE, "float32")
        self.y = np.zeros((n, LONGEST), "int32")
        self.w = np.zeros((n, LONGEST), "float32")
        self.truth = np.full((n, LONGEST), -1)
        centres = np.array([[1, 0, 0, .5, 0], [0, 1, 0, 0, .5], [0, 0, 1, -.5, -.5]])
        for k in range(n):
            length, s = rng.integers(20, LONGEST + 1), rng.integers(STAGES)
            for t in range(length):
                s = s if rng.random() < STAY else rng.integers(STAGES)
                self.x[k, t] = centres[s] + rng.normal(0, 0.7, FEATURES)
                self.truth[k, t] = s
                if rng.random() < scored:
                    self.y[k, t], self.w[k, t] = s, 1.0

    def __len__(self):
        return len(self.x) // self.batch

    def __getitem__(self, i):
        s = slice(i * self.batch, (i + 1) * self.batch)
        return self.x[s], self.y[s], self.w[s]


train, test = Nights(480, 24, scored=1 / 12), Nights(120, 24, scored=1.0)
inp = keras.Input((LONGEST, FEATURES))
h = layers.Masking(mask_value=NONE)(inp)
h = layers.GRU(20, return_sequences=True)(h)
model = keras.Model(inp, layers.Dense(STAGES)(h))
model.compile(optimizer=keras.optimizers.Adam(1e-2),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), weighted_metrics=["accuracy"])
model.fit(train, epochs=5, shuffle=False, verbose=2)

pred = model.predict(test.x, verbose=0).argmax(-1)
known = test.truth >= 0
print(f"scored training epochs {train.w.mean():.3f}  test accuracy {np.mean(pred[known] == test.truth[known]):.3f}")
