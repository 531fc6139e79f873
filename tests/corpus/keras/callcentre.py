import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import f1_score

keras.utils.set_random_seed(5)
random.seed(5)

TOPICS = ["billing", "delivery", "login", "cancel"]
PHRASES = {
    "billing": ["charged twice", "invoice is wrong", "refund my payment", "price too high on bill"],
    "delivery": ["parcel never came", "where is my order", "courier left box outside", "tracking shows nothing"],
    "login": ["password reset mail", "account is locked", "cannot sign in", "code does not arrive"],
    "cancel": ["end my contract", "stop the subscription", "close the plan", "want to leave you"],
}
FILLER = "hello please thanks I am calling because since yesterday again really you my the it and so help".split()


def utterance():
    label = random.randrange(len(TOPICS))
    words = random.choices(FILLER, k=random.randint(2, 6)) + random.choice(PHRASES[TOPICS[label]]).split()
    words += random.choices(FILLER, k=random.randint(0, 5))
    return " ".join(words), label


rows = [utterance() for _ in range(1600)]
texts = np.array([r[0] for r in rows])
labels = np.array([r[1] for r in rows])
x_train, y_train = texts[:1300], labels[:1300]
x_val, y_val = texts[1300:], labels[1300:]

vectorize = layers.TextVectorization(max_tokens=500, output_sequence_length=20)
vectorize.adapt(x_train)
x_train = vectorize(tf.constant(x_train)).numpy()
x_val = vectorize(tf.constant(x_val)).numpy()


class F1Callback(keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y
        self.best = 0.0

    def on_epoch_end(self, epoch, logs=None):
        y_pred = self.model.predict(self.x, verbose=0)
        f1 = f1_score(self.y, y_pred, average="macro")
        self.best = max(self.best, f1)
        print(f" - val_f1: {f1:.4f}")


inputs = keras.Input((20,), dtype="int32")
x = layers.Embedding(500, 32, mask_zero=True)(inputs)
x = layers.Bidirectional(layers.GRU(16))(x)
x = layers.Dropout(0.3)(x)
outputs = layers.Dense(len(TOPICS), activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])

f1_cb = F1Callback(x_val, y_val)
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=4, batch_size=32,
          callbacks=[f1_cb], verbose=2)
print("best macro F1", round(f1_cb.best, 4))
