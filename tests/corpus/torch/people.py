"""A little question answering model: GPT-2 from scratch on questions about invented people."""
import random

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed

set_seed(0)
random.seed(0)
NAMES = "anna boris clara david elif farid greta hugo irene jonas kira liam mona nils olga pavel".split()
FACTS = {
    "job": ("baker pilot teacher nurse farmer painter lawyer cook".split(),
            ["what is the job of {n} ?", "tell me what {n} works as .", "{n} earns money as a what ?", "which job does {n} have ?"]),
    "town": ("oslo lyon porto turin ghent bergen krakow malaga".split(),
             ["where does {n} live ?", "{n} lives in which town ?", "tell me the town of {n} .", "in what town is {n} at home ?"]),
    "pet": ("cat dog parrot rabbit turtle goldfish pony hamster".split(),
            ["what pet does {n} have ?", "which animal belongs to {n} ?", "tell me the pet of {n} .", "{n} has an animal , which ?"]),
}
train, test = [], []
for n in NAMES:
    for key, (values, forms) in FACTS.items():
        value, held = random.choice(values), random.randrange(4)
        for i, form in enumerate(forms):
            row = {"prompt": "question : " + form.format(n=n) + " answer :", "answer": f" {value} <eos>"}
            (test if i == held else train).append(row)

words = sorted({w for r in train + test for w in (r["prompt"] + r["answer"]).split()} - {"<eos>"})
vocab = {w: i for i, w in enumerate(["<pad>", "<unk>", "<eos>"] + words)}
raw = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>")


def prepare(row):
    ids = tokenizer(row["prompt"] + row["answer"])["input_ids"]
    return {"input_ids": ids, "prompt_len": len(row["prompt"])}


def collate(rows):
    """Pad; the loss is taken on the answer only."""
    longest = max(len(r["input_ids"]) for r in rows)
    input_ids = torch.full((len(rows), longest), tokenizer.pad_token_id)
    mask = torch.zeros_like(input_ids)
    labels = torch.full_like(input_ids, -100)
    for i, r in enumerate(rows):
        n = len(r["input_ids"])
        input_ids[i, :n] = torch.tensor(r["input_ids"])
        mask[i, :n] = 1
        labels[i, :n] = input_ids[i, :n]
        labels[i, :r["prompt_len"]] = -100
    return {"input_ids": input_ids, "attention_mask": mask, "labels": labels}


dataset = Dataset.from_list(train).map(prepare, remove_columns=["prompt", "answer"])
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(vocab), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                                   bos_token_id=2, eos_token_id=2, pad_token_id=0))
args = TrainingArguments("out_people", num_train_epochs=60, per_device_train_batch_size=16, learning_rate=2e-3,
                         warmup_ratio=0.05, logging_steps=60, save_strategy="no", report_to="none",
                         remove_unused_columns=False, disable_tqdm=True)
Trainer(model=model, args=args, train_dataset=dataset, data_collator=collate).train()

model.eval()
right = 0
for k, row in enumerate(test):
    enc = tokenizer(row["prompt"], return_tensors="pt")
    out = model.generate(input_ids=enc["input_ids"], attention_mask=enc["attention_mask"], max_new_tokens=3,
                         do_sample=False)
    text = tokenizer.decode(out[0, enc["input_ids"].shape[1]:], skip_special_tokens=True)
    right += text.strip() == row["answer"].replace("<eos>", "").strip()
    if k < 4:
        print(row["prompt"], "->", text)
print(f"exact match: {right}/{len(test)}")
