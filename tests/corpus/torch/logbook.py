# character language model on ships' log entries
import math
import random
from itertools import chain

from datasets import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, default_data_collator, set_seed

set_seed(3)
r = random.Random(3)


def log_entry():
    wind = r.choice(["north", "south", "east", "west"])
    return (f"{r.choice(['dawn', 'noon', 'dusk'])}. wind {wind}, force {r.randint(2, 9)}. "
            f"{r.choice(['sighted', 'passed', 'hailed'])} a {r.choice(['brig', 'whaler', 'schooner', 'cutter'])} "
            f"bearing {wind}. {r.choice(['all well', 'pumps manned', 'rations short'])}.\n")


entries = [log_entry() for _ in range(700)]
chars = sorted(set("".join(entries)))
stoi = {c: i for i, c in enumerate(chars)}
block_size = 96

raw = Dataset.from_dict({"text": entries}).train_test_split(test_size=100, seed=3)


def encode(batch):
    return {"input_ids": [[stoi[c] for c in t] for t in batch["text"]]}


def group_texts(batch):
    ids = list(chain.from_iterable(batch["input_ids"]))
    total_length = len(ids)
    blocks = [ids[i:i + block_size] for i in range(0, total_length, block_size)]
    return {"input_ids": blocks, "labels": [b.copy() for b in blocks]}


lm = raw.map(encode, batched=True, remove_columns=["text"]).map(group_texts, batched=True, batch_size=200)
print(lm)

model = GPT2LMHeadModel(GPT2Config(vocab_size=len(chars), n_positions=block_size, n_embd=64, n_layer=2, n_head=4,
                                   resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                                   bos_token_id=0, eos_token_id=0))
args = TrainingArguments(
    output_dir="logbook_out",
    per_device_train_batch_size=16,
    per_device_eval_batch_size=16,
    learning_rate=3e-3,
    num_train_epochs=8,
    weight_decay=0.01,
    warmup_steps=20,
    logging_steps=25,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(model=model, args=args, train_dataset=lm["train"], eval_dataset=lm["test"],
                  data_collator=default_data_collator)
trainer.train()
loss = trainer.evaluate()["eval_loss"]
print(f"eval loss {loss:.3f}  perplexity {math.exp(loss):.2f}  (uniform {len(chars)})")
