"""Tag recipes with the allergens they contain; several tags at once, some of them rare."""
import random
import tempfile

import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    DataCollatorWithPadding,
    EarlyStoppingCallback,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

TAGS = ["gluten", "dairy", "nuts", "fish", "mustard"]
SOURCES = {
    "gluten": ["flour", "pasta", "bread", "couscous", "beer"],
    "dairy": ["butter", "cream", "cheddar", "yoghurt"],
    "nuts": ["almonds", "pecans", "hazelnut oil", "marzipan"],
    "fish": ["anchovies", "salmon", "tuna"],
    "mustard": ["dijon", "mustard seeds"],
}
SHARE = {"gluten": 0.4, "dairy": 0.35, "nuts": 0.12, "fish": 0.1, "mustard": 0.05}
SAFE = ["rice", "carrots", "onions", "tomatoes", "olive oil", "beans", "garlic", "apples", "pepper", "spinach",
        "vinegar", "parsley", "lemon", "potatoes", "honey", "corn"]
MAX_LEN = 40


def recipe(rng):
    flags = [float(rng.random() < SHARE[t]) for t in TAGS]
    parts = rng.sample(SAFE, rng.randint(3, 6))
    parts += [rng.choice(SOURCES[t]) for t, f in zip(TAGS, flags) if f]
    rng.shuffle(parts)
    return {"text": " , ".join(parts), "labels": flags}


def train_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False))
    tok.post_processor = processors.RobertaProcessing(sep=("</s>", 2), cls=("<s>", 0))
    return PreTrainedTokenizerFast(tokenizer_object=tok, bos_token="<s>", cls_token="<s>", eos_token="</s>",
                                   sep_token="</s>", pad_token="<pad>", unk_token="<unk>",
                                   model_input_names=["input_ids", "attention_mask"])


class WeightedTrainer(Trainer):
    def __init__(self, *args, pos_weight, **kwargs):
        super().__init__(*args, **kwargs)
        self.criterion = torch.nn.BCEWithLogitsLoss(pos_weight=pos_weight)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = self.criterion(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss


def compute_metrics(p):
    guess = (p.predictions > 0).astype(int)
    gold = p.label_ids.astype(int)
    return {
        "macro_f1": f1_score(gold, guess, average="macro", zero_division=0),
        "all_right": float((guess == gold).all(axis=1).mean()),
    }


def main():
    set_seed(31)
    rng = random.Random(31)
    data = Dataset.from_list([recipe(rng) for _ in range(3000)])
    data = data.train_test_split(test_size=800, seed=31)
    held = data["test"].train_test_split(test_size=400, seed=31)
    tokenizer = train_tokenizer(data["train"]["text"])

    def encode(batch):
        return tokenizer(batch["text"], truncation=True, max_length=MAX_LEN)

    train, valid, test = (d.map(encode, batched=True, remove_columns=["text"])
                          for d in (data["train"], held["train"], held["test"]))
    share = np.array(train["labels"]).mean(axis=0)
    weight = torch.tensor((1 - share) / share, dtype=torch.float32).sqrt()

    model = RobertaForSequenceClassification(RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        max_position_embeddings=MAX_LEN + 2, type_vocab_size=1,
        num_labels=len(TAGS), problem_type="multi_label_classification",
        pad_token_id=1, bos_token_id=0, eos_token_id=2,
    ))
    with tempfile.TemporaryDirectory() as out:
        trainer = WeightedTrainer(
            model=model,
            args=TrainingArguments(
                output_dir=out, num_train_epochs=10, per_device_train_batch_size=16,
                per_device_eval_batch_size=200, learning_rate=1e-3, warmup_ratio=0.1,
                eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
                metric_for_best_model="macro_f1", greater_is_better=True, logging_steps=60,
                report_to="none", use_cpu=True,
            ),
            train_dataset=train,
            eval_dataset=valid,
            data_collator=DataCollatorWithPadding(tokenizer),
            compute_metrics=compute_metrics,
            callbacks=[EarlyStoppingCallback(early_stopping_patience=4)],
            pos_weight=weight,
        )
        trainer.train()
        print("test:", trainer.evaluate(test, metric_key_prefix="test"))


if __name__ == "__main__":
    main()
