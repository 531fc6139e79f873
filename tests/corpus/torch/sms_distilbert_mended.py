import tempfile, random
import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers, processors
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

SEED = 3
set_seed(SEED)
random.seed(SEED)

HAM = "see you at lunch | running late sorry | can you call mum tonight | the meeting moved to friday | " \
      "thanks for the lift | did you feed the cat | train is delayed again | happy birthday love"
SPAM = "claim your prize today | free entry to win cash | your account was selected call now | " \
       "cheap loans approved instantly | win a holiday reply yes | urgent bonus waiting for you"
FILL = "ok well so hey um please just really tomorrow later maybe about with this that".split()


def message(label):
    bits = (SPAM if label else HAM).split(" | ")
    words = random.choice(bits).split()
    if random.random() < 0.4:
        words += random.choice((HAM if random.random() < 0.5 else SPAM).split(" | ")).split()[:2]
    for _ in range(random.randint(2, 6)):
        words.insert(random.randrange(len(words) + 1), random.choice(FILL))
    return " ".join(words)


labels = [random.randint(0, 1) for _ in range(2400)]
texts = [message(l) for l in labels]

tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tok.pre_tokenizer = pre_tokenizers.Whitespace()
tok.train_from_iterator(texts[:2000], trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
tok.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]", model_max_length=40)

ds = Dataset.from_dict({"text": texts, "label": labels})
ds = ds.map(lambda b: tokenizer(b["text"], truncation=True, return_token_type_ids=False), batched=True)
train_ds, val_ds = ds.select(range(2000)), ds.select(range(2000, 2400))

model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(tokenizer), dim=64, hidden_dim=128, n_layers=2, n_heads=4,
    max_position_embeddings=48, num_labels=2))


def metrics(p):
    return {"accuracy": float((np.argmax(p.predictions, -1) == p.label_ids).mean())}


args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    num_train_epochs=3,
    per_device_train_batch_size=32,
    learning_rate=5e-4,
    warmup_steps=20,
    weight_decay=0.01,
    logging_steps=30,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    use_cpu=True,
    seed=SEED,
)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=val_ds,
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=metrics)
trainer.train()
print("final:", trainer.evaluate()["eval_accuracy"])
