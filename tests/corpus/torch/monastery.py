import random

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (DataCollatorForLanguageModeling, PreTrainedTokenizerFast, RobertaConfig,
                          RobertaForMaskedLM, Trainer, TrainingArguments, set_seed)

set_seed(3)
random.seed(3)

abbots = {"anselm": "norwich", "bede": "jarrow", "cuthbert": "farne", "dunstan": "glaston", "oswald": "ramsey", "wulfric": "exeter"}
works = {"chapel": "stone", "barn": "oak", "bridge": "timber", "bell": "bronze", "psalter": "vellum", "well": "brick"}
seasons = {"lent": "spring", "michaelmas": "autumn", "advent": "winter", "midsummer": "summer"}


def entry():
    a, w, s = random.choice(list(abbots)), random.choice(list(works)), random.choice(list(seasons))
    return (f"at {s} in the {seasons[s]} abbot {a} of {abbots[a]} ordered a {w} of {works[w]} "
            f"and the brothers of {abbots[a]} gave {works[w]} for the {w} .")


texts = [entry() + " " + entry() for _ in range(2000)]

tok = Tokenizer(models.WordLevel(unk_token="<unk>"))
tok.pre_tokenizer = pre_tokenizers.Whitespace()
tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, bos_token="<s>", pad_token="<pad>", eos_token="</s>",
                                    unk_token="<unk>", mask_token="<mask>")

max_length = 40


def tokenize(batch):
    return tokenizer(batch["text"], truncation=True, max_length=max_length, padding="max_length", return_token_type_ids=False)


ds = Dataset.from_dict({"text": texts})
ds = ds.map(tokenize, batched=True, remove_columns=["text"]).train_test_split(test_size=0.1, seed=3)

config = RobertaConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                       intermediate_size=128, max_position_embeddings=max_length, pad_token_id=1, type_vocab_size=1)
model = RobertaForMaskedLM(config)

args = TrainingArguments(output_dir="out", num_train_epochs=5, per_device_train_batch_size=32,
                         learning_rate=3e-3, warmup_ratio=0.1, logging_steps=50, eval_strategy="epoch",
                         save_strategy="no", report_to="none", disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  data_collator=DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15))
trainer.train()
print("eval loss", trainer.evaluate()["eval_loss"])
