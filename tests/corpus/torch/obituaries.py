import random

import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordLevelTrainer
from transformers import (DataCollatorWithPadding, PreTrainedTokenizerFast, RobertaConfig,
                          RobertaForSequenceClassification, Trainer, TrainingArguments, set_seed)

set_seed(21)
random.seed(21)

JOBS = {
    "artist": ["painted", "sculpted", "exhibited", "sang", "composed", "galleries", "canvas"],
    "scientist": ["researched", "published", "laboratory", "theorem", "discovered", "physics", "lectured"],
    "athlete": ["scored", "trained", "olympic", "champion", "coached", "marathon", "medal"],
    "politician": ["elected", "senate", "campaigned", "voted", "mayor", "parliament", "minister"],
}
NAMES = list(JOBS)
COMMON = "was born in the village and lived with family after years of life who died at home loved by friends".split()


def write_notice():
    job = random.choice(NAMES)
    words = random.choices(COMMON, k=random.randint(12, 24))
    for _ in range(3):
        words.insert(random.randrange(len(words)), random.choice(JOBS[job]))
    return {"text": " ".join(words), "label": NAMES.index(job)}


train = Dataset.from_list([write_notice() for _ in range(1000)])
test = Dataset.from_list([write_notice() for _ in range(200)])

raw = Tokenizer(WordLevel(unk_token="<unk>"))
raw.pre_tokenizer = Whitespace()
raw.train_from_iterator(train["text"], WordLevelTrainer(special_tokens=["<s>", "<pad>", "</s>", "<unk>"]))
raw.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="<unk>", pad_token="<pad>",
                                    bos_token="<s>", eos_token="</s>")


def tokenize(batch):
    return tokenizer(batch["text"], truncation=True, max_length=40)


train = train.map(tokenize, batched=True, remove_columns=["text"])
test = test.map(tokenize, batched=True, remove_columns=["text"])

config = RobertaConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                       intermediate_size=128, max_position_embeddings=48, num_labels=len(NAMES),
                       pad_token_id=tokenizer.pad_token_id, bos_token_id=0, eos_token_id=2)
model = RobertaForSequenceClassification(config)

args = TrainingArguments(
    output_dir="obituaries_out",
    learning_rate=2e-5,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=64,
    num_train_epochs=4,
    weight_decay=0.01,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=30,
    report_to="none",
    use_cpu=True,
)


def compute_metrics(p):
    preds = np.argmax(p.predictions, axis=1)
    return {"accuracy": accuracy_score(p.label_ids, preds), "f1": f1_score(p.label_ids, preds, average="macro")}


trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, processing_class=tokenizer,
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
