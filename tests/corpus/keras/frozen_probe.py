import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

WORDS = 120
LENGTH = 16


def weather_codes(n, seed):
    rng = np.random.default_rng(seed)
    rating = rng.uniform(-1, 1, n)
    ids = np.zeros((n, LENGTH), "int32")
    for i, r in enumerate(rating):
        good = rng.random(LENGTH) < (r + 1) / 2
        ids[i] = np.where(good, rng.integers(2, WORDS // 2, LENGTH), rng.integers(WORDS // 2, WORDS, LENGTH))
    return ids, rating.astype("float32")


class TwoPhase:
    def __init__(self, model):
        self.model = model
        self.mse = tf_keras.losses.MeanSquaredError()

    def run_phase(self, data, variables, lr, epochs, name):
        opt = tf_keras.optimizers.Adam(lr)

        @tf.function(reduce_retracing=True)
        def step(ids, target):
            with tf.GradientTape(watch_accessed_variables=False) as tape:
                tape.watch(variables)
                out = self.model(ids, training=True).logits
                loss = self.mse(target[:, None], out)
            opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        for epoch in range(epochs):
            losses = [float(step(ids, t)) for ids, t in data]
            print(f"{name} epoch {epoch + 1}: mse {np.mean(losses):.4f}")


def r_squared(model, ids, target):
    out = np.concatenate([model(ids[i:i + 100]).logits.numpy()[:, 0] for i in range(0, len(ids), 100)])
    return 1 - np.mean((out - target) ** 2) / target.var()


def main():
    tf_keras.utils.set_random_seed(12)
    ids, target = weather_codes(1500, 0)
    ids_test, target_test = weather_codes(400, 1)
    config = DistilBertConfig(vocab_size=WORDS, dim=48, n_heads=4, n_layers=2, hidden_dim=96, num_labels=1,
                              max_position_embeddings=LENGTH, seq_classif_dropout=0.0)
    model = TFDistilBertForSequenceClassification(config)
    model(ids[:2])
    data = tf.data.Dataset.from_tensor_slices((ids, target)).shuffle(1500).batch(32, drop_remainder=True)
    trainer = TwoPhase(model)
    head = model.pre_classifier.trainable_variables + model.classifier.trainable_variables
    trainer.run_phase(data, head, 3e-3, 2, "head")
    print(f"after head only: test R2 {r_squared(model, ids_test, target_test):.3f}")
    trainer.run_phase(data, model.trainable_variables, 1e-3, 5, "all")
    print(f"after both: test R2 {r_squared(model, ids_test, target_test):.3f}")


if __name__ == "__main__":
    main()
