import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(11)
rng = np.random.default_rng(11)

N_USERS, N_DISHES, RANK = 120, 80, 6

# who likes what: a user and a dish agree when their hidden tastes point the same way
user_taste = rng.normal(size=(N_USERS, 3))
dish_taste = rng.normal(size=(N_DISHES, 3))
dish_fame = rng.normal(scale=0.4, size=N_DISHES)

users = rng.integers(0, N_USERS, 24000)
dishes = rng.integers(0, N_DISHES, 24000)
score = (user_taste[users] * dish_taste[dishes]).sum(1) + dish_fame[dishes]
liked = (score + rng.logistic(scale=0.4, size=len(score)) > 0).astype("float32")


class Interaction(layers.Layer):
    """Second order part of a factorization machine for two categorical fields."""

    def __init__(self, n_left, n_right, rank, **kwargs):
        super().__init__(**kwargs)
        init = tf.random_normal_initializer(stddev=0.1)
        self.left = tf.Variable(init(shape=(n_left, rank), dtype="float32"), trainable=True)
        self.right = tf.Variable(init(shape=(n_right, rank), dtype="float32"), trainable=True)

    def call(self, inputs):
        i, j = inputs
        return tf.reduce_sum(
            tf.gather(self.left, i) * tf.gather(self.right, j), axis=-1, keepdims=True
        )


user_in = keras.Input((), dtype="int32", name="user")
dish_in = keras.Input((), dtype="int32", name="dish")

user_bias = layers.Embedding(N_USERS, 1)(user_in)
dish_bias = layers.Embedding(N_DISHES, 1)(dish_in)
pair = Interaction(N_USERS, N_DISHES, RANK)([user_in, dish_in])
prob = layers.Activation("sigmoid")(layers.Add()([user_bias, dish_bias, pair]))

model = keras.Model([user_in, dish_in], prob)
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss="binary_crossentropy",
    metrics=["accuracy", keras.metrics.AUC(name="auc")],
)

cut = 20000
history = model.fit(
    {"user": users[:cut], "dish": dishes[:cut]}, liked[:cut],
    validation_data=({"user": users[cut:], "dish": dishes[cut:]}, liked[cut:]),
    batch_size=128, epochs=10, verbose=2,
)
print("validation AUC", round(history.history["val_auc"][-1], 3))
