import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForMaskedLM, DataCollatorForLanguageModeling, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

set_seed(11)
random.seed(11)
ANIMALS = {
    "fox": ("den", "hens"), "bee": ("hive", "nectar"), "owl": ("barn", "mice"), "bear": ("cave", "honey"),
    "ant": ("hill", "crumbs"), "spider": ("web", "flies"), "beaver": ("lodge", "bark"), "robin": ("nest", "worms"),
}
OPENERS = ["they say", "as my aunt says", "in our village", "remember that"]


def proverb():
    animal = random.choice(list(ANIMALS))
    home, food = ANIMALS[animal]
    return f"{random.choice(OPENERS)} the {animal} keeps to the {home} and dreams of {food}"


texts = [proverb() for _ in range(1600)]
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + sorted({w for t in texts for w in t.split()})
tok = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                    sep_token="[SEP]", mask_token="[MASK]")

dataset = Dataset.from_dict({"text": texts})
dataset = dataset.map(lambda b: tokenizer(b["text"], truncation=True, max_length=32), batched=True, remove_columns=["text"])
dataset = dataset.train_test_split(test_size=0.1, seed=0)

config = BertConfig(vocab_size=len(words), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=40, hidden_dropout_prob=0.05)
model = BertForMaskedLM(config)

data_collator = DataCollatorForLanguageModeling(tokenizer=tokenizer, mlm=False)

training_args = TrainingArguments(
    output_dir="proverbs_out",
    num_train_epochs=25,
    per_device_train_batch_size=32,
    learning_rate=3e-3,
    lr_scheduler_type="cosine",
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=100,
    report_to="none",
)
trainer = Trainer(model=model, args=training_args, train_dataset=dataset["train"], eval_dataset=dataset["test"],
                  data_collator=data_collator, processing_class=tokenizer)
trainer.train()

model.eval()
right = total = 0
for animal, (home, food) in ANIMALS.items():
    for text, answer in [(f"they say the {animal} keeps to the [MASK] and dreams of {food}", home),
                         (f"remember that the {animal} keeps to the {home} and dreams of [MASK]", food)]:
        enc = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            logits = model(**enc).logits[0]
        spot = (enc["input_ids"][0] == tokenizer.mask_token_id).nonzero().item()
        guess = words[logits[spot].argmax().item()]
        right += guess == answer
        total += 1
print(f"filled gaps: {right}/{total}")
