import numpy as np
import pandas as pd
import keras
from keras import layers
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

n = 3000
df = pd.DataFrame({
    "temperature": rng.normal(14, 8, n).round(1),
    "wind": rng.gamma(2.0, 3.0, n).round(1),
    "hour": rng.integers(0, 24, n),
    "weather": rng.choice(["clear", "cloudy", "rain"], n, p=[0.5, 0.3, 0.2]),
    "district": rng.choice(["north", "harbour", "centre", "campus"], n),
})
busy = (
    0.12 * (df["temperature"] - 14)
    - 0.15 * (df["wind"] - 6)
    + 1.2 * df["hour"].between(7, 19)
    - 2.0 * (df["weather"] == "rain")
    + 1.0 * df["district"].isin(["centre", "campus"])
    - 0.6
)
df["busy"] = (busy + rng.logistic(0, 0.4, n) > 0).astype(int)

for col in ["temperature", "wind", "hour"]:
    df[col] = (df[col] - df[col].mean()) / df[col].std()

df = pd.get_dummies(df, columns=["weather", "district"])
X = df.drop("busy", axis=1).values
y = df["busy"].values
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
print(X_train.shape, X_test.shape)

model = keras.Sequential()
model.add(layers.Input((X_train.shape[1],)))
model.add(layers.Dense(32, activation="relu"))
model.add(layers.Dense(16, activation="relu"))
model.add(layers.Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.summary()

model.fit(X_train, y_train, epochs=12, batch_size=32, validation_data=(X_test, y_test), verbose=2)
print("baseline:", max(y_test.mean(), 1 - y_test.mean()))
print("test:", model.evaluate(X_test, y_test, verbose=0))
