import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import tf_keras
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import BertConfig, PreTrainedTokenizerFast, TFBertForSequenceClassification

QUEUES = ["billing", "network", "hardware", "account"]
TOPIC = {
    "billing": "invoice refund charge payment card receipt price tax".split(),
    "network": "router wifi latency packet vpn signal outage dns".split(),
    "hardware": "screen battery keyboard fan charger cable hinge disk".split(),
    "account": "password login email profile username reset locked token".split(),
}
FILLER = ("hello please i we the my since yesterday today it is not working could you "
          "help thanks again team still when after update support issue problem").split()


def write_ticket(rng, queue):
    length = int(np.clip(rng.lognormal(3.1, 0.45), 8, 110))
    words = []
    for _ in range(length):
        r = rng.random()
        if r < 0.14:
            words.append(rng.choice(TOPIC[queue]))
        elif r < 0.20:
            words.append(rng.choice(TOPIC[rng.choice(QUEUES)]))
        else:
            words.append(rng.choice(FILLER))
    return " ".join(words)


def make_corpus(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(QUEUES), n)
    return [write_ticket(rng, QUEUES[k]) for k in y], y


def build_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", tok.token_to_id("[CLS]")), ("[SEP]", tok.token_to_id("[SEP]"))])
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]")


class TicketBatches:
    def __init__(self, tokenizer, texts, labels, batch_size, shuffle):
        self.tokenizer, self.texts, self.labels = tokenizer, texts, labels
        self.batch_size, self.shuffle = batch_size, shuffle

    def encode(self, texts):
        return dict(self.tokenizer(texts, padding=True, return_tensors="np"))

    def __call__(self):
        order = np.arange(len(self.texts))
        if self.shuffle:
            np.random.shuffle(order)
        for i in range(0, len(order), self.batch_size):
            idx = order[i:i + self.batch_size]
            enc = self.encode([self.texts[j] for j in idx])
            x = {k: enc[k].astype("int32") for k in ("input_ids", "attention_mask")}
            yield x, self.labels[idx].astype("int32")

    def dataset(self):
        ids = tf.TensorSpec((None, None), tf.int32)
        return tf.data.Dataset.from_generator(self, output_signature=(
            {"input_ids": ids, "attention_mask": ids}, tf.TensorSpec((None,), tf.int32)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args()
    tf_keras.utils.set_random_seed(3)

    train_texts, train_y = make_corpus(960, 0)
    test_texts, test_y = make_corpus(240, 1)
    tokenizer = build_tokenizer(train_texts)
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2,
                        num_attention_heads=4, intermediate_size=128,
                        max_position_embeddings=64, num_labels=len(QUEUES))
    model = TFBertForSequenceClassification(config)
    model.compile(optimizer=tf_keras.optimizers.Adam(args.lr),
                  loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    train = TicketBatches(tokenizer, train_texts, train_y, args.batch_size, True).dataset()
    test = TicketBatches(tokenizer, test_texts, test_y, 60, False).dataset()
    model.fit(train, epochs=args.epochs, verbose=2)
    loss, acc = model.evaluate(test, verbose=0)
    print(f"test loss {loss:.3f}  test accuracy {acc:.3f}  (4 queues)")


if __name__ == "__main__":
    main()
