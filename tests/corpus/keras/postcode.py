import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

tf.keras.utils.set_random_seed(13)

digits = load_digits()
images = digits.images[..., None].astype("float32")
x_train, x_test, y_train, y_test = train_test_split(
    images, digits.target, test_size=0.25, random_state=13, stratify=digits.target)


def shift(image, label):
    padded = tf.pad(image, [[1, 1], [1, 1], [0, 0]])
    return tf.image.random_crop(padded, [8, 8, 1]), label


train_ds = (tf.data.Dataset.from_tensor_slices((x_train, y_train))
            .cache().shuffle(len(x_train)).map(shift).batch(32).prefetch(2))
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(128)

model = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Rescaling(1 / 16.0),
    layers.Conv2D(24, 3, padding="same", use_bias=False),
    layers.BatchNormalization(momentum=0.9),
    layers.ReLU(),
    layers.Conv2D(48, 3, padding="same", use_bias=False),
    layers.BatchNormalization(momentum=0.9),
    layers.ReLU(),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dropout(0.3),
    layers.Dense(10),
])
model.compile(
    optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["sparse_categorical_accuracy"],
)
model.fit(train_ds, validation_data=test_ds, epochs=12, verbose=2)

pred = model.predict(test_ds, verbose=0).argmax(-1)
print(confusion_matrix(y_test, pred))
print("accuracy", (pred == y_test).mean())
