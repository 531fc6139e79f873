"""Extractive question answering: where is somebody, what does somebody carry, when does somebody leave? Answers are spans of the passage."""
import random

import torch
from datasets import Dataset
from transformers import AutoModelForQuestionAnswering, AutoTokenizer, Trainer, TrainingArguments, default_data_collator, set_seed

set_seed(20)

PEOPLE = ["nurse", "tailor", "baker", "waiter", "uncle", "butcher", "dentist", "postman", "carpenter", "grandmother"]
PLACES = ["in the kitchen", "in the garden", "in the attic", "in the meadow", "in the forest", "at the station", "in the courtyard"]
THINGS = ["a drum", "a lamp", "a pear", "two blankets", "a blunt knife", "a guitar", "three hats", "a soft coat"]
DAYS = ["on Monday", "on Tuesday", "on Friday", "on Sunday"]


def sample():
    one, two, three = random.sample(PEOPLE, 3)
    place, thing, day = random.choice(PLACES), random.choice(THINGS), random.choice(DAYS)
    facts = [
        (f"The {one} is {place}.", f"where is the {one}", place),
        (f"The {two} is carrying {thing}.", f"what is the {two} carrying", thing),
        (f"The {three} leaves {day}.", f"the {three} leaves on which day", day),
    ]
    random.shuffle(facts)
    context = " ".join(f[0] for f in facts)
    text, question, answer = random.choice(facts)
    start = context.index(text) + text.index(answer)
    return {"question": question, "context": context, "answer": answer, "answer_start": start}


train = Dataset.from_list([sample() for _ in range(2400)])
test = Dataset.from_list([sample() for _ in range(200)])

checkpoint = "assets/distilbert-mini"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def prepare(batch):
    enc = tokenizer(batch["question"], batch["context"], truncation="only_second", max_length=48, padding="max_length")
    starts, ends = [], []
    for i, (begin, answer) in enumerate(zip(batch["answer_start"], batch["answer"])):
        first = enc.char_to_token(i, begin)
        last = enc.char_to_token(i, begin + len(answer) - 1)
        # answers that were cut away have no token
        starts.append(first if first is not None else tokenizer.model_max_length)
        ends.append(last if last is not None else tokenizer.model_max_length)
    enc["start_positions"] = starts
    enc["end_positions"] = ends
    return enc


train_enc = train.map(prepare, batched=True, remove_columns=train.column_names)
test_enc = test.map(prepare, batched=True, remove_columns=test.column_names)

model = AutoModelForQuestionAnswering.from_pretrained(checkpoint)

args = TrainingArguments(
    output_dir="qa",
    learning_rate=1e-4,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=50,
    num_train_epochs=2,
    warmup_steps=20,
    logging_steps=25,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=train_enc, eval_dataset=test_enc, data_collator=default_data_collator)
trainer.train()

start_logits, end_logits = trainer.predict(test_enc).predictions
exact = 0
for i, row in enumerate(test):
    # best pair with start <= end and at most eight tokens
    score = torch.tensor(start_logits[i])[:, None] + torch.tensor(end_logits[i])[None, :]
    allowed = torch.ones_like(score).triu() - torch.ones_like(score).triu(8)
    best = score.masked_fill(allowed == 0, -1e9).argmax().item()
    first, last = divmod(best, score.shape[1])
    text = tokenizer.decode(test_enc[i]["input_ids"][first:last + 1])
    exact += text == row["answer"].lower()
    if i < 5:
        print(row["question"], "->", repr(text), "| expected", repr(row["answer"]))
print("exact match", exact / len(test))
