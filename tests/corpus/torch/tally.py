import random
import tempfile

import numpy as np
from datasets import Dataset, DatasetDict
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    BartConfig,
    BartForSequenceClassification,
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    Trainer,
    TrainingArguments,
    set_seed,
)

set_seed(11)
LABELS = ["request", "complaint", "praise"]
CUES = {
    "request": ["could you send", "i would like", "please book", "i need"],
    "complaint": ["i am unhappy with", "nobody repaired", "we never received", "there is a fault in"],
    "praise": ["many thanks for", "we really enjoyed", "everyone admired", "i am delighted with"],
}
ITEMS = ["the blue sofa", "two tickets", "a new lamp", "the garden table", "our room", "the oak shelf",
         "a city map", "the second chair", "the kitchen tiles", "the long curtain"]
FILLER = ["as agreed", "this week", "by the way", "after the holidays", "for my sister", "on the first floor",
          "from your shop", "near the station"]


def build(n, seed):
    rng = random.Random(seed)
    found = {}
    while len(found) < n:
        label = rng.randrange(3)
        parts = [rng.choice(FILLER), rng.choice(CUES[LABELS[label]]), rng.choice(ITEMS), rng.choice(FILLER)]
        found[" ".join(parts)] = label
    return Dataset.from_dict({"text": list(found), "label": list(found.values())})


split = build(2200, seed=11).train_test_split(test_size=300, seed=11)
data = DatasetDict(train=split["train"], validation=split["test"])

raw = Tokenizer(models.BPE(unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator(
    data["train"]["text"],
    trainers.BpeTrainer(vocab_size=250, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False),
)
raw.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=raw, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
)

data = data.map(
    lambda rows: tokenizer(rows["text"], truncation=True, max_length=40, return_token_type_ids=False),
    batched=True,
    remove_columns=["text"],
)

config = BartConfig(
    vocab_size=len(tokenizer),
    d_model=64,
    encoder_layers=2,
    decoder_layers=1,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    encoder_ffn_dim=128,
    decoder_ffn_dim=128,
    max_position_embeddings=64,
    num_labels=len(LABELS),
    pad_token_id=1,
    bos_token_id=0,
    eos_token_id=2,
    decoder_start_token_id=2,
    forced_eos_token_id=2,
)
model = BartForSequenceClassification(config)


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    predictions = np.argmax(logits, axis=-1)
    return {"accuracy": float((predictions == labels).mean())}


with tempfile.TemporaryDirectory() as out:
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=out,
            num_train_epochs=4,
            per_device_train_batch_size=32,
            per_device_eval_batch_size=100,
            learning_rate=1e-3,
            eval_strategy="epoch",
            logging_steps=20,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
        ),
        train_dataset=data["train"],
        eval_dataset=data["validation"],
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=compute_metrics,
    )
    trainer.train()
    for name, value in trainer.evaluate().items():
        print(name, round(value, 4))
