import random
import numpy as np
from tensorflow import keras
from tensorflow.keras.layers import Dense, Embedding, Input, LSTM
from tensorflow.keras.models import Sequential
from tensorflow.keras.utils import pad_sequences

random.seed(11)
keras.utils.set_random_seed(11)

good = "lovely warm bright charming calm gentle superb".split()
bad = "dull cold noisy rude grim broken sour".split()
rest = "the a room host street dinner was felt very quite with and our stay by night morning".split()


def sentence(label):
    words = random.choices(rest, k=random.randint(4, 10))
    for _ in range(2):
        words.insert(random.randrange(len(words)), random.choice(good if label else bad))
    return words


labels = np.array([random.randint(0, 1) for _ in range(1500)])
texts = [sentence(l) for l in labels]

word_index = {w: i + 1 for i, w in enumerate(sorted(set(w for t in texts for w in t)))}
sequences = [[word_index[w] for w in t] for t in texts]
maxlen = 80
data = pad_sequences(sequences, maxlen=maxlen, padding="post")

x_train, y_train = data[:1200], labels[:1200]
x_val, y_val = data[1200:], labels[1200:]

model = Sequential()
model.add(Input(shape=(maxlen,)))
model.add(Embedding(len(word_index) + 1, 16))
model.add(LSTM(32))
model.add(Dense(1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.summary()

history = model.fit(x_train, y_train, epochs=6, batch_size=32, validation_data=(x_val, y_val), verbose=2)
print("final val accuracy", history.history["val_accuracy"][-1])
