import random
import torch
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(0)
NAMES = "anna ben carl dora emil fay gus hana ivo jill kurt lena".split()


def scene():
    people = random.sample(NAMES, random.randint(2, 8))
    return " ".join(people) + " wait at the counter . now it is the turn of", people[0]


vocab = {w: i for i, w in enumerate(["<|end|>", "<unk>"] + NAMES + "wait at the counter . now it is turn of".split())}
backend = Tokenizer(WordLevel(vocab, unk_token="<unk>"))
backend.pre_tokenizer = WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", eos_token="<|end|>",
                                    model_input_names=["input_ids", "attention_mask"])
tokenizer.pad_token = tokenizer.eos_token

train = Dataset.from_dict({"text": [" ".join(scene()) for _ in range(1600)]})
train = train.map(lambda b: tokenizer(b["text"]), batched=True, remove_columns=["text"])

config = GPT2Config(vocab_size=len(tokenizer), n_positions=32, n_embd=64, n_layer=2, n_head=4, resid_pdrop=0.0,
                    embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config)
args = TrainingArguments(output_dir="out_queue", num_train_epochs=10, per_device_train_batch_size=32,
                         learning_rate=3e-3, weight_decay=0.01, logging_steps=50, report_to="none",
                         save_strategy="no", use_cpu=True, disable_tqdm=True)
Trainer(model=model, args=args, train_dataset=train,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False)).train()

# new scenes, asked in batches: the next word should be a name
tokenizer.padding_side = "left"
model.eval()
test = [scene() for _ in range(240)]
hits = 0
for s in range(0, len(test), 16):
    texts, names = zip(*test[s:s + 16])
    enc = tokenizer(list(texts), return_tensors="pt", padding=True)
    out = model.generate(enc["input_ids"], max_new_tokens=1, do_sample=False, pad_token_id=tokenizer.pad_token_id)
    said = tokenizer.batch_decode(out[:, -1:])
    hits += sum(a.strip() == b for a, b in zip(said, names))
print("last batch:", list(zip(said, names))[:5])
print(f"right names: {hits / len(test):.2f}")
