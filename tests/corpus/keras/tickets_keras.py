"""Is a support ticket a complaint or a question? LSTM over word ids."""
import random
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(11)
random.seed(11)

FILLER = ("the a my our this order account invoice router phone app delivery yesterday today "
          "with from after before again number customer service team please mail box").split()
COMPLAINT = "broken late refund angry damaged useless wrong terrible missing lost".split()
QUESTION = "how where when which possible change upgrade information available opening".split()


def write_ticket(label):
    words = random.choices(FILLER, k=random.randint(4, 22))
    own, other = (COMPLAINT, QUESTION) if label else (QUESTION, COMPLAINT)
    words += random.choices(own, k=random.randint(2, 3))
    words += random.choices(other, k=random.randint(0, 1))
    random.shuffle(words)
    return " ".join(words)


labels = np.array([random.randint(0, 1) for _ in range(3000)])
texts = [write_ticket(l) for l in labels]

vocab = {w: i + 1 for i, w in enumerate(sorted({w for t in texts for w in t.split()}))}
sequences = [[vocab[w] for w in t.split()] for t in texts]

MAX_LEN = 120
x = keras.utils.pad_sequences(sequences, maxlen=MAX_LEN, padding="post", truncating="post")
x_train, x_test = x[:2400], x[2400:]
y_train, y_test = labels[:2400], labels[2400:]
print("train", x_train.shape, "positive share", y_train.mean().round(3))

model = keras.Sequential([
    layers.Embedding(len(vocab) + 1, 32),
    layers.LSTM(32),
    layers.Dense(16, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=64, epochs=5, validation_split=0.1, verbose=2)

loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.3f}  test accuracy {acc:.3f}")
