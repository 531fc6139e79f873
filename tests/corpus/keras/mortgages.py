import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from tensorflow import keras

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
n = 3000

df = pd.DataFrame({
    "income": rng.lognormal(10.5, 0.5, n),
    "amount": rng.lognormal(11.8, 0.4, n),
    "years": rng.choice([10, 15, 20, 30], n),
    "region": rng.choice(["north", "south", "coast", "city"], n),
    "job": rng.choice(["employed", "self", "retired"], n),
})
burden = df.amount / df.years / df.income
score = 2.2 - 9 * burden + 0.9 * (df.job == "employed") - 0.7 * (df.region == "coast")
df["granted"] = (score + rng.normal(0, 0.4, n) > 0).astype(int)
print(df.head())
print(df.granted.value_counts(normalize=True))

y = df.pop("granted")
num = ["income", "amount", "years"]
df[["income", "amount"]] = np.log(df[["income", "amount"]])
df[num] = (df[num] - df[num].mean()) / df[num].std()
X = pd.get_dummies(df, columns=["region", "job"])

X_train, X_test, y_train, y_test = train_test_split(X.values, y.values, test_size=0.2, random_state=5, stratify=y)

model = keras.Sequential([
    keras.layers.Input((X_train.shape[1],)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dropout(0.1),
    keras.layers.Dense(16, activation="relu"),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy", keras.metrics.AUC(name="auc")])
model.summary()

history = model.fit(
    X_train, y_train,
    epochs=15, batch_size=32, validation_split=0.1, verbose=2,
    callbacks=[keras.callbacks.EarlyStopping(patience=4, restore_best_weights=True)],
)
print(dict(zip(model.metrics_names, model.evaluate(X_test, y_test, verbose=0))))
