import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (DistilBertConfig, PreTrainedTokenizerFast,
                          TFDistilBertForSequenceClassification)

REGIONS = {
    "north": "nowt owt bairn lass ginnel beck mardy brew".split(),
    "south": "mate geezer proper innit cuppa quid gaff bloke".split(),
    "west": "gert lush babber daps scrage lover where to".split(),
    "isles": "peerie wee ken haar croft bonnie dreich braw".split(),
}
COMMON = ("we were going down there in the morning and it was raining so she said that he "
          "would come later with some bread").split()
MAX_LEN = 64


def utterances(n, seed):
    rng = np.random.default_rng(seed)
    names = list(REGIONS)
    labels = rng.integers(0, len(names), n)
    texts = []
    for k in labels:
        words = list(rng.choice(COMMON, rng.integers(4, 12)))
        words += list(rng.choice(REGIONS[names[k]], rng.integers(2, 4)))
        words += list(rng.choice(REGIONS[names[rng.integers(0, 4)]], 1))
        rng.shuffle(words)
        texts.append(" ".join(words))
    return texts, labels.astype("int32")


def train_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]",
                                   model_input_names=["input_ids", "attention_mask"])


def encode(tokenizer, texts):
    enc = tokenizer(texts, padding="max_length", truncation=True, max_length=MAX_LEN,
                    return_tensors="np")
    return {k: v.astype("int32") for k, v in enc.items()}


def predict_regions(model, tokenizer, texts):
    enc = encode(tokenizer, texts)
    out = model.predict(enc["input_ids"], batch_size=64, verbose=0)
    return out.logits.argmax(-1)


def main():
    tf.keras.utils.set_random_seed(31)
    train_txt, y_train = utterances(900, 1)
    test_txt, y_test = utterances(250, 2)
    tokenizer = train_tokenizer(train_txt)

    model = TFDistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=len(tokenizer), dim=48, n_layers=2, n_heads=4, hidden_dim=96,
        max_position_embeddings=MAX_LEN, num_labels=len(REGIONS)))
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3),
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(encode(tokenizer, train_txt), y_train, batch_size=32, epochs=8, verbose=2)

    pred = predict_regions(model, tokenizer, test_txt)
    print("test accuracy", round(float((pred == y_test).mean()), 4))
    print("predicted counts", np.bincount(pred, minlength=4), "true", np.bincount(y_test))


if __name__ == "__main__":
    main()
