import random
import tempfile

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, default_data_collator, set_seed)

set_seed(5)
rng = random.Random(5)

DISHES = {
    "soup": ["chop the onion", "boil the stock", "add salt", "serve hot"],
    "bread": ["mix flour and water", "knead the dough", "wait one hour", "bake it"],
    "salad": ["wash the leaves", "slice the tomato", "pour the oil", "serve cold"],
    "pancake": ["beat the eggs", "stir in milk", "heat the pan", "flip it once"],
    "rice": ["rinse the grains", "add two cups of water", "cover the pot", "rest ten minutes"],
}
ASK = ["how do i make {}", "please explain {}", "tell me step {} of {}", "what is step {} for {}"]
ORDER = ["one", "two", "three", "four"]


def example():
    dish = rng.choice(list(DISHES))
    step = rng.randrange(4)
    template = rng.choice(ASK)
    if template.count("{}") == 1:
        return template.format(dish) + " :", " then ".join(DISHES[dish])
    return template.format(ORDER[step], dish) + " :", DISHES[dish][step]


pairs = [example() for _ in range(1200)]
words = sorted({w for p, a in pairs for w in (p + " " + a).split()})
vocab = {w: i for i, w in enumerate(["<pad>", "<unk>", "<eos>"] + words)}
core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>")

SETTINGS = dict(max_length=40, truncation=True, padding="max_length")


def build(row):
    full = tokenizer(f"{row['prompt']} {row['answer']} <eos>", **SETTINGS)
    prompt = tokenizer(row["prompt"], **SETTINGS)
    n_prompt = len(prompt["input_ids"])
    labels = [t if m else -100 for t, m in zip(full["input_ids"], full["attention_mask"])]
    labels[:n_prompt] = [-100] * n_prompt
    full["labels"] = labels
    return full


data = Dataset.from_dict({"prompt": [p for p, _ in pairs], "answer": [a for _, a in pairs]})
data = data.map(build, remove_columns=["prompt", "answer"]).train_test_split(test_size=200, seed=5)

config = GPT2Config(vocab_size=len(vocab), n_positions=64, n_embd=64, n_layer=2, n_head=4,
                    bos_token_id=2, eos_token_id=2, pad_token_id=0)
model = GPT2LMHeadModel(config)

args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    num_train_epochs=8,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=2e-3,
    lr_scheduler_type="cosine",
    warmup_ratio=0.05,
    logging_steps=25,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"],
                  data_collator=default_data_collator)
trainer.train()

model.eval()
for question in ["tell me step two of bread :", "how do i make soup :"]:
    enc = tokenizer(question, return_tensors="pt", return_token_type_ids=False)
    out = model.generate(**enc, max_new_tokens=25, do_sample=False, pad_token_id=0)
    print(question, "->", tokenizer.decode(out[0, enc["input_ids"].shape[1]:], skip_special_tokens=True))
