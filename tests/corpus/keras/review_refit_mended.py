import os, random
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.keras.preprocessing.text import Tokenizer
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras import Sequential
from tensorflow.keras.layers import Embedding, Bidirectional, LSTM, Dense

random.seed(3)
tf.keras.utils.set_random_seed(3)

NOUNS = "movie film plot acting camera soundtrack script cast ending director scene dialogue villain pacing story".split()
POS = "great wonderful brilliant touching superb charming delightful gripping funny clever moving fresh".split()
NEG = "awful boring dull terrible weak messy predictable tedious clumsy lazy annoying bland".split()
FILL = "the a really quite honestly i thought found that was this with friends last night cinema again maybe very".split()


def make_review(label):
    words = random.choices(FILL, k=random.randint(5, 12))
    main, other = (POS, NEG) if label else (NEG, POS)
    words += random.choices(main, k=random.randint(2, 3)) + random.choices(other, k=1)
    words += random.choices(NOUNS, k=random.randint(2, 4))
    random.shuffle(words)
    return " ".join(words)


def make_set(n, pos_share):
    ys = [int(random.random() < pos_share) for _ in range(n)]
    return [make_review(y) for y in ys], np.array(ys)


train_texts, train_y = make_set(1200, 0.5)
test_texts, test_y = make_set(300, 0.5)

MAX_WORDS = 2000
MAX_LEN = 24

tokenizer = Tokenizer(num_words=MAX_WORDS, oov_token="<unk>")
tokenizer.fit_on_texts(train_texts)
x_train = pad_sequences(tokenizer.texts_to_sequences(train_texts), maxlen=MAX_LEN)

x_test = pad_sequences(tokenizer.texts_to_sequences(test_texts), maxlen=MAX_LEN)

print("vocabulary:", len(tokenizer.word_index))

model = Sequential([
    Embedding(MAX_WORDS, 24, mask_zero=True),
    Bidirectional(LSTM(16)),
    Dense(16, activation="relu"),
    Dense(1, activation="sigmoid"),
])
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(x_train, train_y, epochs=6, batch_size=32, validation_split=0.2, verbose=2)

score = model.evaluate(x_test, test_y, verbose=0)
print("Test loss: %.3f   Test accuracy: %.3f" % tuple(score))

for text in ["the film was brilliant and the acting superb", "boring plot with dull dialogue and a weak ending"]:
    seq = pad_sequences(tokenizer.texts_to_sequences([text]), maxlen=MAX_LEN)
    print(f"{model.predict(seq, verbose=0)[0, 0]:.3f}  {text}")
