import argparse
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from transformers import TFViTForImageClassification, ViTConfig


def get_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--hidden", type=int, default=48)
    ap.add_argument("--layers", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=16)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--smoothing", type=float, default=0.05)
    ap.add_argument("--num-classes", type=int, default=10)
    return ap.parse_args()


def read_plates():
    """House number crops in the format of the .mat archive: digit "0" is stored as 10."""
    raw = load_digits()
    pixels = (raw.images[:, None] / 8.0 - 1.0).astype("float32")
    label = np.where(raw.target == 0, 10, raw.target).astype("int32") % 10
    order = np.random.default_rng(6).permutation(len(label))
    return pixels[order], label[order]


def targets(label, args):
    hot = tf.one_hot(label, args.num_classes)
    return hot * (1 - args.smoothing) + args.smoothing / args.num_classes


def build(args):
    cfg = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=args.hidden,
                    num_hidden_layers=args.layers, num_attention_heads=4,
                    intermediate_size=2 * args.hidden, num_labels=args.num_classes,
                    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    return TFViTForImageClassification(cfg)


def main():
    args = get_args()
    tf.keras.utils.set_random_seed(30)
    x, y = read_plates()
    x_tr, y_tr, x_te, y_te = x[:1400], y[:1400], x[1400:], y[1400:]
    model = build(args)
    model(x_tr[:2])
    opt = tf.keras.optimizers.Adam(args.lr)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            logits = model(xb, training=True).logits
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(
                labels=targets(yb, args), logits=logits))
        grads = tape.gradient(loss, model.trainable_variables)
        pairs = [(g, v) for g, v in zip(grads, model.trainable_variables) if g is not None]
        opt.apply_gradients(pairs)
        return loss

    ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(1400, seed=2)
    ds = ds.batch(args.batch, drop_remainder=True)
    for epoch in range(args.epochs):
        losses = [float(step(xb, yb)) for xb, yb in ds]
        if epoch % 3 == 1:
            print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

    pred = model(x_te, training=False).logits.numpy().argmax(1)
    print(f"test accuracy {np.mean(pred == y_te):.4f}")
    for c in np.unique(y_te):
        print(c, f"recall {np.mean(pred[y_te == c] == c):.3f}", end="; ")
    print()


if __name__ == "__main__":
    main()
