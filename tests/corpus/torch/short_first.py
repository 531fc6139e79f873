"""Order of training matters to us: short texts first, long ones at the end (curriculum). One pass over the data.

Task: which kind of detail does the second text name? (4 classes)
"""
from datasets import load_dataset
from torch.utils.data import SequentialSampler
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments, set_seed


class CurriculumTrainer(Trainer):
    def _get_train_sampler(self, train_dataset=None):
        # the data set is already in the order we want
        return SequentialSampler(self.train_dataset if train_dataset is None else train_dataset)


set_seed(17)
tokenizer = AutoTokenizer.from_pretrained("assets/distilbert-mini")


def encode(batch):
    enc = tokenizer(batch["hypothesis"], batch["premise"], truncation=True, max_length=80)
    enc["length"] = [len(ids) for ids in enc["input_ids"]]
    return enc


nli = load_dataset("assets/nli", "4_labels").map(encode, batched=True)
train = nli["train"].sort("length")
print("first lengths", train["length"][:5], "last lengths", train["length"][-5:])
train, valid = train.remove_columns("length"), nli["validation_matched"].remove_columns("length")

model = AutoModelForSequenceClassification.from_pretrained("assets/distilbert-mini", num_labels=4)
args = TrainingArguments(
    output_dir="curriculum",
    per_device_train_batch_size=8,
    gradient_accumulation_steps=2,
    per_device_eval_batch_size=60,
    learning_rate=8e-5,
    lr_scheduler_type="constant",
    num_train_epochs=1,
    bf16=True,
    use_cpu=True,
    logging_steps=10,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
trainer = CurriculumTrainer(
    model=model,
    args=args,
    train_dataset=train,
    eval_dataset=valid,
    data_collator=DataCollatorWithPadding(tokenizer, pad_to_multiple_of=8),
    compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
)
trainer.train()
print(trainer.evaluate())
