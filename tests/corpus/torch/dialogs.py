import random
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

set_seed(0)
rng = random.Random(0)

places = ["paris", "rome", "oslo", "lima", "cairo"]
country = {"paris": "france", "rome": "italy", "oslo": "norway", "lima": "peru", "cairo": "egypt"}
asks = ["where is {}", "which country is {} in", "tell me where {} lies"]


def dialog():
    p = rng.choice(places)
    return "<|user|> " + rng.choice(asks).format(p) + f" <|bot|> {p} is in {country[p]} <|end|>"


texts = [dialog() for _ in range(800)]
plain = [t.replace("<|user|>", "").replace("<|bot|>", "").replace("<|end|>", "") for t in texts]

core = Tokenizer(models.WordLevel(unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.train_from_iterator(plain, trainers.WordLevelTrainer(special_tokens=["<pad>", "<unk>"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", unk_token="<unk>")
tokenizer.add_special_tokens({"additional_special_tokens": ["<|user|>", "<|bot|>"], "eos_token": "<|end|>"})

ds = Dataset.from_dict({"text": texts}).map(lambda b: tokenizer(b["text"]), batched=True, remove_columns=["text"])
ds = ds.remove_columns([c for c in ds.column_names if c == "token_type_ids"])
split = ds.train_test_split(test_size=0.1, seed=0)

config = GPT2Config(
    vocab_size=tokenizer.vocab_size,
    n_positions=32,
    n_embd=48,
    n_layer=2,
    n_head=4,
    pad_token_id=tokenizer.pad_token_id,
    bos_token_id=tokenizer.eos_token_id,
    eos_token_id=tokenizer.eos_token_id,
)
model = GPT2LMHeadModel(config)
print("parameters:", model.num_parameters())

args = TrainingArguments("out_dialogs", num_train_epochs=5, per_device_train_batch_size=16, learning_rate=2e-3,
                         logging_steps=45, save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=split["train"], eval_dataset=split["test"],
                  data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False))
trainer.train()
print(trainer.evaluate())
prompt = tokenizer("<|user|> where is oslo <|bot|>", return_tensors="pt")
out = model.generate(input_ids=prompt["input_ids"], attention_mask=prompt["attention_mask"], max_new_tokens=6)
print(tokenizer.decode(out[0]))
