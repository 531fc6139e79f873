# Tag news articles: every article can carry several of the 8 tags.
import numpy as np
import keras
from keras import layers
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(0)

TAGS = ["politics", "economy", "sports", "science", "health", "culture", "travel", "tech"]

counts, tags = make_multilabel_classification(
    n_samples=3000, n_features=60, n_classes=len(TAGS), n_labels=3,
    length=120, allow_unlabeled=False, random_state=1)
counts = np.log1p(counts).astype("float32")
tags = tags.astype("float32")

x_tr, x_te, t_tr, t_te = train_test_split(counts, tags, test_size=0.2, random_state=0)

norm = layers.Normalization()
norm.adapt(x_tr)

inputs = keras.Input((x_tr.shape[1],))
h = norm(inputs)
h = layers.Dense(128, activation="relu")(h)
h = layers.Dropout(0.3)(h)
h = layers.Dense(64, activation="relu")(h)
outputs = layers.Dense(len(TAGS), activation="sigmoid")(h)
model = keras.Model(inputs, outputs)

model.compile(
    optimizer="adam",
    loss="binary_crossentropy",
    metrics=[keras.metrics.BinaryAccuracy(name="bin_acc"),
             keras.metrics.Recall(name="recall")],
)
model.fit(x_tr, t_tr, batch_size=64, epochs=14, validation_split=0.1, verbose=2)

probs = model.predict(x_te, verbose=0)
pred = (probs >= 0.5).astype(int)
print("average tags per article, real     :", t_te.sum(1).mean().round(2))
print("average tags per article, predicted:", pred.sum(1).mean().round(2))
print("precision:", round(precision_score(t_te, pred, average="micro"), 3))
print("recall   :", round(recall_score(t_te, pred, average="micro"), 3))
print("micro F1 :", round(f1_score(t_te, pred, average="micro"), 3))
for i, name in enumerate(TAGS):
    print(f"  {name:10s} F1 = {f1_score(t_te[:, i], pred[:, i]):.3f}")
