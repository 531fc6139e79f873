import numpy as np
import tensorflow as tf
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

tf.keras.utils.set_random_seed(4)

QUEUES = {
    "billing": ["invoice", "charged", "refund", "payment", "card"],
    "login": ["password", "account", "locked", "code", "signin"],
    "shipping": ["parcel", "courier", "tracking", "address", "late"],
    "hardware": ["screen", "battery", "cable", "fan", "keyboard"],
    "cancel": ["contract", "terminate", "leave", "notice", "unsubscribe"],
    "praise": ["thanks", "great", "helpful", "love", "excellent"],
}
FILLER = "hello team i have the my a please about was is for with today again since it and".split()


def write_ticket(queue, rng):
    n = rng.integers(8, 16)
    words = list(rng.choice(FILLER, n))
    for w in rng.choice(QUEUES[queue], 2, replace=False):
        words.insert(rng.integers(0, len(words)), w)
    if rng.random() < 0.4:
        other = rng.choice(list(QUEUES))
        words.append(rng.choice(QUEUES[other]))
    return " ".join(words)


def corpus(n, rng):
    names = list(QUEUES)
    labels = rng.integers(0, len(names), n)
    return [write_ticket(names[k], rng) for k in labels], labels.astype("int32")


def train_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
    tok.enable_padding(length=24, pad_id=0, pad_token="[PAD]")
    tok.enable_truncation(24)
    return tok


def to_dataset(tok, texts, labels, batch, shuffle):
    enc = tok.encode_batch(texts)
    feats = {
        "input_ids": np.array([e.ids for e in enc], "int32"),
        "attention_mask": np.array([e.attention_mask for e in enc], "int32"),
    }
    ds = tf.data.Dataset.from_tensor_slices((feats, labels))
    if shuffle:
        ds = ds.shuffle(len(texts), seed=0)
    return ds.batch(batch)


def build(vocab_size):
    import tf_keras

    cfg = DistilBertConfig(
        vocab_size=vocab_size, dim=64, n_layers=2, n_heads=4, hidden_dim=128,
        max_position_embeddings=32, num_labels=len(QUEUES), pad_token_id=0,
        initializer_range=0.05,
    )
    model = TFDistilBertForSequenceClassification(cfg)
    model.compile(
        optimizer=tf_keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    rng = np.random.default_rng(4)
    tr_text, tr_y = corpus(800, rng)
    te_text, te_y = corpus(200, rng)
    tok = train_tokenizer(tr_text)
    train = to_dataset(tok, tr_text, tr_y, 32, True)
    test = to_dataset(tok, te_text, te_y, 64, False)

    model = build(tok.get_vocab_size())
    model.fit(train, validation_data=test, epochs=4, verbose=2)
    logits = model.predict(test, verbose=0).logits
    pred = logits.argmax(-1)
    print("tickets per queue predicted", np.bincount(pred, minlength=len(QUEUES)))
    print(f"test accuracy {(pred == te_y).mean():.3f}")


if __name__ == "__main__":
    main()
