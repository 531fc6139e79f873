import numpy as np
import pandas as pd
from keras import Sequential
from keras.layers import Input, Dense, Dropout
from keras.utils import set_random_seed
from sklearn.preprocessing import StandardScaler
from sklearn.model_selection import train_test_split

set_random_seed(99)
rng = np.random.default_rng(99)

n = 2500
df = pd.DataFrame({
    "age": rng.integers(18, 75, n),
    "income": rng.lognormal(7.8, 0.4, n),
    "rent": rng.lognormal(6.4, 0.4, n),
    "cards": rng.integers(0, 6, n),
    "late_bills": rng.poisson(1.2, n),
    "years_customer": rng.exponential(6, n),
})
score = (2.5 * (df.rent / df.income - 0.28) * 4 + 0.9 * (df.late_bills - 1.2) + 0.3 * (df.cards - 2.5)
         - 0.08 * (df.years_customer - 6) + rng.logistic(0, 0.35, n))
df["overdrawn"] = (score > 0.2).astype(int)

X = StandardScaler().fit_transform(df.drop(columns="overdrawn"))
y = df["overdrawn"].to_numpy()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)

model = Sequential([
    Input((X.shape[1],)),
    Dense(32, activation="relu"),
    Dropout(0.1),
    Dense(16, activation="relu"),
    Dense(1, activation="softmax"),
])
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X_train, y_train, epochs=15, batch_size=32, validation_split=0.1, verbose=2)
print("test", model.evaluate(X_test, y_test, verbose=0))
