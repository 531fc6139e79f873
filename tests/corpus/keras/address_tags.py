import numpy as np
import tensorflow as tf
import tf_keras
from transformers import RobertaConfig, TFRobertaForTokenClassification

tf_keras.utils.set_random_seed(19)
TAGS = ["O", "STREET", "NUMBER", "CITY"]
STREETS = [f"street{i}" for i in range(12)]
CITIES = [f"city{i}" for i in range(12)]
NUMBERS = [str(n) for n in range(1, 31)]
OTHER = "please send it to the office near at in for our new flat and call when there".split()
VOCAB = {w: i for i, w in enumerate(["<s>", "<pad>", "</s>"] + OTHER + STREETS + CITIES + NUMBERS)}
PAD = VOCAB["<pad>"]
WIDTH = 22


def sentence(rng):
    words, tags = [], []

    def say(n):
        for w in rng.choice(OTHER, n):
            words.append(w)
            tags.append(0)

    say(rng.integers(1, 6))
    words.append(rng.choice(STREETS)), tags.append(1)
    words.append(rng.choice(NUMBERS)), tags.append(2)
    say(rng.integers(0, 2))
    words.append(rng.choice(CITIES)), tags.append(3)
    if rng.random() < 0.5:
        say(1)
        words.append(rng.choice(NUMBERS)), tags.append(0)
    say(rng.integers(0, 6))
    return words, tags


def encode(samples):
    ids = np.full((len(samples), WIDTH), PAD, "int32")
    labels = np.full((len(samples), WIDTH), -100, "int32")
    for r, (words, tags) in enumerate(samples):
        ids[r, 0] = VOCAB["<s>"]
        ids[r, 1:len(words) + 1] = [VOCAB[w] for w in words]
        ids[r, len(words) + 1] = VOCAB["</s>"]
        labels[r, 1:len(words) + 1] = tags
    return {"input_ids": ids, "attention_mask": (ids != PAD).astype("int32"), "labels": labels}


def build():
    cfg = RobertaConfig(
        vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=WIDTH + 2, type_vocab_size=1,
        num_labels=len(TAGS), pad_token_id=PAD, bos_token_id=0, eos_token_id=2,
        initializer_range=0.05, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )
    model = TFRobertaForTokenClassification(cfg)
    model.compile(optimizer=tf_keras.optimizers.Adam(2e-3))
    return model


def evaluate(model, data):
    feats = {k: v for k, v in data.items() if k != "labels"}
    pred = model.predict(feats, batch_size=128, verbose=0).logits.argmax(-1)
    real = data["labels"] != -100
    hit = pred[real] == data["labels"][real]
    entity = data["labels"][real] > 0
    return hit.mean(), hit[entity].mean(), 1 - entity.mean()


def main():
    rng = np.random.default_rng(19)
    train = encode([sentence(rng) for _ in range(700)])
    test = encode([sentence(rng) for _ in range(200)])
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(700, seed=1).batch(32)
    model = build()
    model.fit(ds, epochs=4, verbose=2)
    acc, ent, base = evaluate(model, test)
    print(f"token accuracy {acc:.3f} (all O {base:.3f})  on entities {ent:.3f}")


if __name__ == "__main__":
    main()
