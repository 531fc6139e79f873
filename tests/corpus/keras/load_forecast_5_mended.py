"""One-step forecast of a load signal with a small BERT encoder over real-valued inputs."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertModel

tf_keras.utils.set_random_seed(31)
CONTEXT = 16


def load_signal(n, seed):
    """A daily rhythm driven by a noisy chaotic component."""
    rng = np.random.default_rng(seed)
    s = np.empty(n)
    a, b = 0.1, 0.2
    for i in range(n):
        s[i] = a
        a, b = 1 - 1.4 * a * a + b, 0.3 * a
    daily = 0.4 * np.sin(2 * np.pi * np.arange(n) / 24)
    return (s + daily + rng.normal(0, 0.02, n)).astype("float32")


def windows(series):
    x = np.lib.stride_tricks.sliding_window_view(series, CONTEXT)[:-1]
    return x[..., None].astype("float32"), series[CONTEXT:, None].astype("float32")


class Forecaster(tf_keras.Model):
    def __init__(self, width=48):
        super().__init__()
        cfg = BertConfig(vocab_size=8, hidden_size=width, num_hidden_layers=2, num_attention_heads=4,
                         intermediate_size=96, max_position_embeddings=CONTEXT,
                         hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        self.project = tf_keras.layers.Dense(width)
        self.encoder = TFBertModel(cfg, add_pooling_layer=False)
        self.head = tf_keras.layers.Dense(1)

    def call(self, x, training=False):
        h = self.encoder({"inputs_embeds": self.project(x)}, training=training).last_hidden_state
        return self.head(h[:, -1])

    def hold_encoder(self, hold):
        self.project.trainable = not hold
        self.encoder.trainable = not hold


def compile_for(model, lr):
    model.compile(optimizer=tf_keras.optimizers.Adam(lr), loss="mse", metrics=["mae"])


def warm_up(model, data, valid):
    model.hold_encoder(True)
    compile_for(model, 1e-3)
    model.fit(*data, validation_data=valid, epochs=2, batch_size=32, verbose=2)


def fine_tune(model, data, valid):
    model.hold_encoder(False)
    compile_for(model, 1e-3)
    model.fit(*data, validation_data=valid, epochs=8, batch_size=32, verbose=2)


def main():
    series = load_signal(2400, seed=2)
    mean, std = series[:1800].mean(), series[:1800].std()
    series = (series - mean) / std
    train, valid, test = windows(series[:1800]), windows(series[1800:2050]), windows(series[2050:])
    model = Forecaster()
    warm_up(model, train, valid)
    print("trainable tensors in warm-up:", len(model.trainable_variables))
    fine_tune(model, train, valid)
    print("trainable tensors in fine-tuning:", len(model.trainable_variables))
    mse, mae = model.evaluate(*test, verbose=0)
    persist = np.mean(np.abs(test[0][:, -1] - test[1]))
    const = np.mean(np.abs(test[1] - train[1].mean()))
    print(f"test MAE {mae:.4f}  mse {mse:.4f}  (last value {persist:.4f}, constant {const:.4f})")


if __name__ == "__main__":
    main()
