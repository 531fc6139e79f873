"""Route support tickets to one of five teams with a small RoBERTa-like encoder and the Trainer."""
import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from transformers import (DataCollatorWithPadding, PreTrainedTokenizerFast, RobertaConfig,
                          RobertaForSequenceClassification, Trainer, TrainingArguments, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

set_seed(77)
rng = np.random.default_rng(77)
topics = {
    "billing": "invoice refund charge payment card receipt".split(),
    "login": "password reset locked account code email".split(),
    "network": "vpn wifi router slow disconnect cable".split(),
    "hardware": "screen keyboard battery laptop broken fan".split(),
    "license": "renew key seat expired upgrade trial".split(),
}
common = "hello i my the a is not please help since yesterday cannot again team thanks need with".split()
names = list(topics)


def ticket():
    y = int(rng.integers(5))
    words = list(rng.choice(common, rng.integers(6, 14))) + list(rng.choice(topics[names[y]], 2))
    if rng.random() < 0.4:
        words.append(str(rng.choice(topics[names[int(rng.integers(5))]])))
    rng.shuffle(words)
    return {"text": " ".join(words), "label": y}


rows = [ticket() for _ in range(1600)]
raw = Tokenizer(models.WordLevel(unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
raw.train_from_iterator([r["text"] for r in rows],
                        trainers.WordLevelTrainer(special_tokens=["<s>", "<pad>", "</s>", "<unk>"]))
raw.post_processor = processors.TemplateProcessing(
    single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", eos_token="</s>",
                                    pad_token="<pad>", unk_token="<unk>", cls_token="<s>", sep_token="</s>")

ds = Dataset.from_list(rows).train_test_split(test_size=320, seed=1)
ds = ds.map(lambda b: tokenizer(b["text"], truncation=True, max_length=32, return_token_type_ids=False),
            batched=True, remove_columns=["text"])

model = RobertaForSequenceClassification(RobertaConfig(
    vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=40, type_vocab_size=1, num_labels=5))


def metrics(p):
    guess = p.predictions.argmax(-1)
    return {"accuracy": accuracy_score(p.label_ids, guess),
            "macro_f1": f1_score(p.label_ids, guess, average="macro")}


training_args = TrainingArguments(
    output_dir="ticket_router_out",
    num_train_epochs=5,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=5e-4,
    warmup_steps=20,
    weight_decay=0.01,
    logging_steps=40,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    use_cpu=True,
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=training_args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=metrics)
trainer.train()
final = trainer.evaluate()
print("steps", trainer.state.global_step)
print("eval loss", round(final["eval_loss"], 4), "(ln 5 =", round(float(np.log(5)), 4), ")")
print("accuracy", round(final["eval_accuracy"], 4), "macro F1", round(final["eval_macro_f1"], 4))
