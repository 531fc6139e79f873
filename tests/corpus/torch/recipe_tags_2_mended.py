import random
import tempfile

import numpy as np
from datasets import Dataset
from sklearn.metrics import f1_score
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorWithPadding, DistilBertConfig,
                          DistilBertForSequenceClassification, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

TAGS = ["vegan", "spicy", "sweet", "quick", "baked"]
CUES = {
    "vegan": ["tofu", "lentils", "chickpeas", "oatmilk"],
    "spicy": ["chili", "cayenne", "sriracha", "jalapeno"],
    "sweet": ["sugar", "honey", "caramel", "syrup"],
    "quick": ["microwave", "instant", "tenminutes", "onepot"],
    "baked": ["oven", "dough", "tray", "crust"],
}
COMMON = ["add", "stir", "salt", "water", "bowl", "mix", "serve", "pan", "with", "and", "the",
          "until", "done", "slice", "fresh", "onion", "garlic", "oil", "spoon", "then"]


def write_recipe(rng):
    tags = [t for t in TAGS if rng.random() < 0.35]
    words = [rng.choice(COMMON) for _ in range(rng.randint(5, 12))]
    for t in tags:
        words.insert(rng.randrange(len(words) + 1), rng.choice(CUES[t]))
    return " ".join(words), tags


def make_split(n, seed):
    rng = random.Random(seed)
    texts, tags = zip(*(write_recipe(rng) for _ in range(n)))
    return Dataset.from_dict({"text": list(texts), "tags": list(tags)})


def make_tokenizer():
    words = ["[PAD]", "[UNK]", "[CLS]"] + COMMON + [w for t in TAGS for w in CUES[t]]
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]",
                                   model_input_names=["input_ids", "attention_mask"])


def preprocess(example, tokenizer):
    enc = tokenizer("[CLS] " + example["text"], truncation=True, max_length=40)
    enc["labels"] = [float(t in example["tags"]) for t in TAGS]
    return enc


def compute_metrics(p):
    logits, truth = p
    pred = (1 / (1 + np.exp(-logits)) > 0.5).astype(int)
    return {"micro_f1": f1_score(truth, pred, average="micro", zero_division=0),
            "exact_match": float((pred == truth).all(axis=1).mean())}


def main():
    set_seed(4)
    tokenizer = make_tokenizer()
    columns = ["text", "tags"]
    train_ds = make_split(2500, 1).map(preprocess, fn_kwargs={"tokenizer": tokenizer},
                                       remove_columns=columns)
    eval_ds = make_split(300, 2).map(preprocess, fn_kwargs={"tokenizer": tokenizer},
                                     remove_columns=columns)
    config = DistilBertConfig(vocab_size=len(tokenizer), dim=64, n_layers=2, n_heads=4,
                              hidden_dim=128, dropout=0.0, max_position_embeddings=64,
                              num_labels=len(TAGS),
                              pad_token_id=tokenizer.pad_token_id)
    model = DistilBertForSequenceClassification(config)
    args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=10,
                             per_device_train_batch_size=32, per_device_eval_batch_size=64,
                             learning_rate=1e-3, warmup_ratio=0.1,
                             eval_strategy="epoch", save_strategy="no",
                             logging_steps=100, report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds,
                      data_collator=DataCollatorWithPadding(tokenizer),
                      compute_metrics=compute_metrics)
    trainer.train()
    result = trainer.evaluate()
    print(f"micro f1 {result['eval_micro_f1']:.3f} exact match {result['eval_exact_match']:.3f}")


if __name__ == "__main__":
    main()
