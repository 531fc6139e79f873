import random
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing
from transformers import (DataCollatorWithPadding, PreTrainedTokenizerFast, RobertaConfig,
                          RobertaForSequenceClassification, Trainer, TrainingArguments, set_seed)

set_seed(5)
drugs = {"pain": ["ibuprofen", "paracetamol", "aspirin"], "allergy": ["cetirizine", "loratadine", "drops"],
         "stomach": ["antacid", "omeprazole", "charcoal"]}
shapes = ["Customer asked for {d} twice a day", "Gave {d} with leaflet", "Ordered {d} for Monday",
          "{d} out of stock , called supplier", "Second box of {d} refused", "Recommended {d} after meals"]
kinds = list(drugs)
texts, labels = [], []
for _ in range(900):
    k = random.randrange(3)
    texts.append(random.choice(shapes).format(d=random.choice(drugs[kinds[k]])))
    labels.append(k)

vocab = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
for text in texts:
    for word in text.split():
        if word not in vocab:
            vocab[word] = len(vocab)

core = Tokenizer(WordLevel(vocab, unk_token="<unk>"))
core.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", pad_token="<pad>",
                                    unk_token="<unk>", cls_token="<s>", sep_token="</s>")

ds = Dataset.from_dict({"text": texts, "label": labels}).train_test_split(test_size=0.2, seed=5)
ds = ds.map(lambda batch: tokenizer(batch["text"], truncation=True, max_length=24), batched=True)

config = RobertaConfig(vocab_size=len(vocab), hidden_size=40, num_hidden_layers=2, num_attention_heads=4,
                       intermediate_size=80, max_position_embeddings=32, num_labels=3, type_vocab_size=1)
model = RobertaForSequenceClassification(config)


def compute_metrics(pred):
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


args = TrainingArguments(
    output_dir="pharmacy", num_train_epochs=6, per_device_train_batch_size=24, learning_rate=8e-4,
    weight_decay=0.01, eval_strategy="epoch", logging_strategy="epoch", save_strategy="no", report_to="none")
trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  processing_class=tokenizer, data_collator=DataCollatorWithPadding(tokenizer),
                  compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
