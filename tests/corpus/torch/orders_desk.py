import random

import numpy as np
from datasets import Dataset, DatasetDict
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding,
                          EarlyStoppingCallback, Trainer, TrainingArguments, set_seed)

MODEL = "assets/distilbert-mini"
PEOPLE = ["nurse", "doctor", "captain", "farmer", "teacher", "baker", "lawyer", "painter"]
TEMPLATES = {
    "travel": ["the {} travels by tram", "the {} travels by bus", "the {} leaves on friday", "the {} leaves on sunday"],
    "place": ["the {} is in the library", "the {} is in the attic", "the {} is in the garage", "the {} is in the meadow"],
    "taste": ["the {} loves chess", "the {} hates football", "the {} dislikes coffee", "the {} is fond of poetry"],
    "carry": ["the {} is carrying a plum", "the {} is carrying a harp", "the {} carries a scarf", "the {} is carrying a drum"],
}
LABELS = list(TEMPLATES)


def make_split(n, seed):
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        label = rng.randrange(len(LABELS))
        text = rng.choice(TEMPLATES[LABELS[label]]).format(rng.choice(PEOPLE))
        if rng.random() < 0.5:
            text = rng.choice(["right now ", "just as yesterday, ", "as the letter says, "]) + text
        rows.append({"text": text, "label": label})
    return Dataset.from_list(rows)


def freeze_lower(model, n_layers):
    for p in model.distilbert.embeddings.parameters():
        p.requires_grad = False
    for layer in model.distilbert.transformer.layer[:n_layers]:
        for p in layer.parameters():
            p.requires_grad = False


def main():
    set_seed(19)
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    data = DatasetDict(train=make_split(800, 1), validation=make_split(160, 2))
    data = data.map(lambda b: tokenizer(b["text"], truncation=True), batched=True, remove_columns=["text"])

    model = AutoModelForSequenceClassification.from_pretrained(
        MODEL, num_labels=len(LABELS), id2label=dict(enumerate(LABELS)), label2id={l: i for i, l in enumerate(LABELS)})
    freeze_lower(model, 4)
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"training {trainable:,} of {sum(p.numel() for p in model.parameters()):,} weights")

    args = TrainingArguments(
        output_dir="orders_out",
        per_device_train_batch_size=4,
        gradient_accumulation_steps=4,
        gradient_checkpointing=True,
        gradient_checkpointing_kwargs={"use_reentrant": False},
        learning_rate=1e-4,
        num_train_epochs=4,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        load_best_model_at_end=True,
        metric_for_best_model="accuracy",
        logging_steps=10,
        report_to=[],
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=data["train"], eval_dataset=data["validation"],
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=lambda p: {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())},
        callbacks=[EarlyStoppingCallback(early_stopping_patience=2)])
    trainer.train()
    print(trainer.evaluate())


if __name__ == "__main__":
    main()
