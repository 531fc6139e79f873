"""Which committee does a parliamentary question belong to?  DistilBERT from scratch."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import logging
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (DistilBertConfig, PreTrainedTokenizerFast,
                          TFDistilBertForSequenceClassification, create_optimizer)

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("parliament")

COMMITTEES = {
    "defence": "frigate barracks veterans procurement helicopter reserves deployment missile",
    "health": "hospital nurses vaccine surgery waiting ambulance dental hospice",
    "energy": "turbine grid nuclear tariff insulation pipeline reactor hydrogen",
    "culture": "museum broadcaster stadium heritage orchestra library lottery film",
    "fisheries": "quota trawler harbour cod shellfish landing nets skipper",
}
OPENERS = ["to ask the minister what assessment has been made of", "to ask the secretary of state whether",
           "what recent discussions the department has had about", "what steps are being taken to support",
           "how much has been spent in the last year on", "when the government plans to publish its view on"]
LINKS = "the future of local services in my constituency and related to across all regions including under".split()


@dataclass
class Config:
    n_questions: int = 1200
    max_length: int = 40
    dim: int = 64
    layers: int = 2
    batch_size: int = 24
    epochs: int = 5
    lr: float = 6e-4
    weight_decay: float = 0.01
    warmup_steps: int = 0
    seed: int = 33


def ask(rng, committee):
    own = COMMITTEES[committee].split()
    others = " ".join(v for k, v in COMMITTEES.items() if k != committee).split()
    words = rng.choice(OPENERS).split()
    for _ in range(rng.integers(3, 6)):
        words += [rng.choice(own), *rng.choice(LINKS, rng.integers(1, 4))]
    if rng.random() < 0.5:
        words.insert(rng.integers(len(words)), rng.choice(others))
    return " ".join(words)


def make_questions(cfg):
    rng = np.random.default_rng(cfg.seed)
    names = list(COMMITTEES)
    labels = rng.integers(0, len(names), cfg.n_questions)
    return [ask(rng, names[k]) for k in labels], labels.astype("int32")


def make_tokenizer(texts):
    words = sorted({w for t in texts for w in t.split()})
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words)}
    tok = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]")


def to_dataset(cfg, tokenizer, texts, labels, training):
    enc = tokenizer(texts, padding="max_length", truncation=True, max_length=cfg.max_length,
                    return_token_type_ids=False, return_tensors="np")
    ds = tf.data.Dataset.from_tensor_slices((dict(enc), labels))
    if training:
        ds = ds.shuffle(len(texts), seed=cfg.seed)
    return ds.batch(cfg.batch_size, drop_remainder=training).prefetch(tf.data.AUTOTUNE)


def make_optimizer(cfg, steps_per_epoch):
    log.info("%d optimizer steps per epoch", steps_per_epoch)
    optimizer, schedule = create_optimizer(
        init_lr=cfg.lr,
        num_train_steps=cfg.epochs,
        num_warmup_steps=cfg.warmup_steps,
        weight_decay_rate=cfg.weight_decay,
    )
    return optimizer


def make_model(cfg, tokenizer):
    config = DistilBertConfig(
        vocab_size=len(tokenizer), dim=cfg.dim, n_layers=cfg.layers, n_heads=4, hidden_dim=2 * cfg.dim,
        max_position_embeddings=cfg.max_length, pad_token_id=tokenizer.pad_token_id,
        num_labels=len(COMMITTEES), seq_classif_dropout=0.1,
    )
    return TFDistilBertForSequenceClassification(config)


def evaluate(model, ds):
    truth = np.concatenate([y.numpy() for _, y in ds])
    logits = model.predict(ds, verbose=0).logits
    pred = logits.argmax(-1)
    for k, name in enumerate(COMMITTEES):
        log.info("  %-10s recall %.3f", name, (pred[truth == k] == k).mean())
    return (pred == truth).mean()


def main():
    cfg = Config()
    tf.keras.utils.set_random_seed(cfg.seed)
    texts, labels = make_questions(cfg)
    tokenizer = make_tokenizer(texts)
    cut = int(0.8 * len(texts))
    train_ds = to_dataset(cfg, tokenizer, texts[:cut], labels[:cut], training=True)
    test_ds = to_dataset(cfg, tokenizer, texts[cut:], labels[cut:], training=False)

    model = make_model(cfg, tokenizer)
    model.compile(optimizer=make_optimizer(cfg, len(train_ds)), metrics=["accuracy"])
    model.fit(train_ds, validation_data=test_ds, epochs=cfg.epochs, verbose=2)
    log.info("test accuracy %.3f", evaluate(model, test_ds))


if __name__ == "__main__":
    main()
