import random

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(11)
random.seed(11)
np.random.seed(11)

BILLING = "invoice refund charge card payment subscription price receipt bank fee billed amount".split()
TECH = "crash login password screen update install error driver network slow freeze reboot".split()
FILLER = "please hello my the since again today yesterday it with customer account help thanks was need".split()


def make_ticket(label):
    topic = TECH if label else BILLING
    n = random.randint(8, 20)
    words = [random.choice(topic) if random.random() < 0.3 else random.choice(FILLER) for _ in range(n)]
    if random.random() < 0.2:
        words.append(random.choice(BILLING if label else TECH))
    random.shuffle(words)
    return " ".join(words)


targets = np.random.randint(0, 2, size=2400)
tickets = [make_ticket(t) for t in targets]
n_train = 2000

vectorize = layers.TextVectorization(max_tokens=200, output_sequence_length=22)
vectorize.adapt(tickets[:n_train])

ids = vectorize(np.array(tickets)).numpy()

text_ds = tf.data.Dataset.from_tensor_slices(ids[:n_train]).shuffle(n_train)
label_ds = tf.data.Dataset.from_tensor_slices(targets[:n_train]).shuffle(n_train)
train_ds = tf.data.Dataset.zip((text_ds, label_ds)).batch(32).prefetch(tf.data.AUTOTUNE)
val_ds = tf.data.Dataset.from_tensor_slices((ids[n_train:], targets[n_train:])).batch(64)

model = keras.Sequential(
    [
        layers.Embedding(200, 24, mask_zero=True),
        layers.LSTM(24),
        layers.Dropout(0.2),
        layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=5, verbose=2)

loss, acc = model.evaluate(val_ds, verbose=0)
print(f"validation: loss {loss:.3f}, accuracy {acc:.3f}")
for s in ["my card was billed again refund please", "login error again after update"]:
    p = float(model.predict(vectorize(np.array([s])), verbose=0)[0, 0])
    print(f"{p:.2f} {s}")
