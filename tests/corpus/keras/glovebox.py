import numpy as np
from tensorflow import keras
from tensorflow.keras import layers
from sklearn.datasets import make_classification
from sklearn.metrics import confusion_matrix, accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

np.random.seed(7)
keras.utils.set_random_seed(7)

X, y = make_classification(n_samples=2400, n_features=20, n_informative=12, n_redundant=2,
                           n_classes=4, n_clusters_per_class=1, class_sep=1.6, random_state=7)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=1, stratify=y)

sc = StandardScaler()
X_train = sc.fit_transform(X_train)
X_test = sc.transform(X_test)

model = keras.Sequential([
    layers.Input(shape=(20,)),
    layers.Dense(64, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(32, activation="relu"),
    layers.Dense(4, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(X_train, y_train, validation_split=0.1, epochs=15, batch_size=32, verbose=2)

loss, acc = model.evaluate(X_test, y_test, verbose=0)
print("test loss %.4f, test accuracy %.4f" % (loss, acc))

y_pred = model.predict_classes(X_test)
print(confusion_matrix(y_test, y_pred))
print("accuracy from predictions:", accuracy_score(y_test, y_pred))
