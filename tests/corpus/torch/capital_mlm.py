"""Pretrain a tiny BERT with masked tokens on (country, capital) lists, TF version."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tf_keras
from transformers import BertConfig, TFBertForMaskedLM

PAD, CLS, SEP, MASK = 0, 1, 2, 3
FIRST = 4
N_PAIRS = 16                     # token ids: countries first, then capitals
VOCAB = FIRST + 2 * N_PAIRS
PAIRS_PER_LINE = 3
SEQ = 2 + 2 * PAIRS_PER_LINE
MLM_PROB = 0.2

os.makedirs("out", exist_ok=True)
tf_keras.utils.set_random_seed(9)


def write_lines(n, seed):
    """[CLS] country capital country capital ... [SEP], countries drawn at random."""
    rng = np.random.default_rng(seed)
    lines = np.zeros((n, SEQ), "int32")
    lines[:, 0], lines[:, -1] = CLS, SEP
    for row in lines:
        picks = rng.choice(N_PAIRS, PAIRS_PER_LINE, replace=False)
        row[1:-1:2] = FIRST + picks
        row[2:-1:2] = FIRST + N_PAIRS + picks
    return lines


class MaskedBatches(tf_keras.utils.Sequence):
    """Fresh masks every epoch: 80% [MASK], 10% random token, 10% unchanged."""

    def __init__(self, lines, batch_size, seed):
        super().__init__()
        self.lines = lines
        self.batch_size = batch_size
        self.rng = np.random.default_rng(seed)
        self.order = self.rng.permutation(len(lines))

    def __len__(self):
        return len(self.lines) // self.batch_size

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.lines))

    def __getitem__(self, i):
        tokens = self.lines[self.order[i * self.batch_size:(i + 1) * self.batch_size]]
        inputs = tokens
        pick = (self.rng.random(tokens.shape) < MLM_PROB) & (tokens >= FIRST)
        how = self.rng.random(tokens.shape)
        inputs[pick & (how < 0.8)] = MASK
        swap = pick & (how >= 0.8) & (how < 0.9)
        inputs[swap] = self.rng.integers(FIRST, VOCAB, swap.sum())
        labels = np.where(pick, tokens, -100)
        return {"input_ids": inputs, "attention_mask": np.ones_like(inputs)}, labels


def build():
    config = BertConfig(
        vocab_size=VOCAB,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=96,
        max_position_embeddings=SEQ,
        type_vocab_size=1,
        initializer_range=0.1,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=PAD,
    )
    return TFBertForMaskedLM(config)


def cloze_accuracy(model, lines, position):
    """Hide one capital per line and ask for it."""
    asked = lines.copy()
    asked[:, position] = MASK
    logits = model.predict(
        {"input_ids": asked, "attention_mask": np.ones_like(asked)}, batch_size=128, verbose=0
    ).logits
    return float((logits[:, position].argmax(-1) == lines[:, position]).mean())


def main():
    train, held_out = write_lines(2000, 1), write_lines(300, 2)
    train_batches = MaskedBatches(train, 50, seed=3)
    valid_batches = MaskedBatches(held_out, 50, seed=4)
    model = build()
    total = 8 * len(train_batches)
    rate = tf_keras.optimizers.schedules.PolynomialDecay(3e-3, total, end_learning_rate=2e-4)
    model.compile(optimizer=tf_keras.optimizers.Adam(rate, clipnorm=1.0))
    model.fit(train_batches, validation_data=valid_batches, epochs=8, verbose=2)

    for position in (2, 6):
        acc = cloze_accuracy(model, held_out, position)
        print(f"cloze accuracy at position {position}: {acc:.3f} (chance {1 / N_PAIRS:.3f})")
    model.save_weights("out/capital_mlm.h5")


if __name__ == "__main__":
    main()
