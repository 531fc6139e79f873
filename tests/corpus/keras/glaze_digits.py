import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import math
import numpy as np
import tf_keras
from tf_keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

EPOCHS, WARM, PEAK = 18, 3, 0.5
tf_keras.utils.set_random_seed(44)

x, y = load_digits(return_X_y=True)
x = (x.reshape(-1, 8, 8, 1) / 16.0).astype("float32")
x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.2, stratify=y, random_state=44)
hot_train = tf_keras.utils.to_categorical(y_train, 10)
hot_val = tf_keras.utils.to_categorical(y_val, 10)


def block(h, width):
    h = layers.Conv2D(width, 3, padding="same", use_bias=False, kernel_regularizer=tf_keras.regularizers.l2(1e-4))(h)
    h = layers.BatchNormalization(momentum=0.9)(h)
    return layers.Activation("relu")(h)


inputs = layers.Input((8, 8, 1))
h = block(inputs, 16)
h = h + block(h, 16)
h = layers.MaxPooling2D()(h)
h = block(h, 32)
h = layers.GlobalAveragePooling2D()(h)
model = tf_keras.Model(inputs, layers.Dense(10)(h))


def rate(epoch):
    if epoch < WARM:
        return PEAK * (epoch + 1) / WARM
    return 0.5 * PEAK * (1 + math.cos(math.pi * (epoch - WARM) / (EPOCHS - WARM)))


model.compile(
    optimizer=tf_keras.optimizers.SGD(PEAK, nesterov=False),
    loss=tf_keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.2),
    metrics=["accuracy"],
)
model.fit(x_train, hot_train, validation_data=(x_val, hot_val), batch_size=96, epochs=EPOCHS, verbose=2,
          callbacks=[tf_keras.callbacks.LearningRateScheduler(rate)])
print("held-out accuracy:", np.mean(model.predict(x_val, verbose=0).argmax(1) == y_val).round(3))
