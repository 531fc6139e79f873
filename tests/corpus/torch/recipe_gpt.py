# Small GPT-2 that writes kitchen instructions. Own word-level tokenizer, because the texts use only a few words.
import random

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

set_seed(11)

ACTIONS = {
    "chop": ["carrots", "onions", "garlic", "herbs"],
    "boil": ["rice", "pasta", "eggs", "potatoes"],
    "fry": ["mushrooms", "bacon", "onions", "eggs"],
    "bake": ["bread", "cake", "potatoes"],
}
TIMES = {"chop": "finely", "boil": "for ten minutes", "fry": "in hot oil", "bake": "in the oven until brown"}


def recipe():
    steps = []
    for _ in range(random.randint(1, 4)):
        action = random.choice(list(ACTIONS))
        steps.append(f"{action} the {random.choice(ACTIONS[action])} {TIMES[action]}")
    return " , then ".join(steps) + " . serve warm ."


texts = [recipe() for _ in range(1600)]

# --- tokenizer ---
backend = Tokenizer(models.WordLevel(unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
backend.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["<unk>", "<s>", "</s>"]))
backend.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", bos_token="<s>", eos_token="</s>")

# --- model ---
config = GPT2Config(
    vocab_size=len(tokenizer),
    n_positions=64,
    n_embd=64,
    n_layer=2,
    n_head=4,
    bos_token_id=tokenizer.bos_token_id,
    eos_token_id=tokenizer.eos_token_id,
)
model = GPT2LMHeadModel(config)
print(model.num_parameters(), "parameters,", len(tokenizer), "words")

# GPT-2 has no padding token, the collator wants one
tokenizer.add_special_tokens({"pad_token": "<pad>"})

# --- data ---
dataset = Dataset.from_dict({"text": texts})
dataset = dataset.map(lambda b: tokenizer(b["text"], truncation=True, max_length=64), batched=True, remove_columns="text")
dataset = dataset.remove_columns("token_type_ids") if "token_type_ids" in dataset.column_names else dataset
split = dataset.train_test_split(test_size=200, seed=11)

trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="recipes",
        learning_rate=1e-3,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=50,
        num_train_epochs=3,
        warmup_ratio=0.1,
        logging_steps=20,
        save_strategy="no",
        eval_strategy="epoch",
        report_to="none",
        disable_tqdm=True,
    ),
    train_dataset=split["train"],
    eval_dataset=split["test"],
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
trainer.train()
print("eval loss", trainer.evaluate()["eval_loss"])

start = tokenizer("boil the", return_tensors="pt").input_ids[:, :-1]
out = model.generate(start, max_new_tokens=20, do_sample=False, pad_token_id=tokenizer.pad_token_id)
print(tokenizer.decode(out[0], skip_special_tokens=True))
