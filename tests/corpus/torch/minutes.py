import random
import numpy as np
from datasets import Dataset, ClassLabel
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (PreTrainedTokenizerFast, RobertaConfig, RobertaForSequenceClassification, Trainer,
                          TrainingArguments, default_data_collator)

random.seed(5)
MAX_LEN = 96
topics = ["budget", "staff", "building"]
lex = {
    "budget": "cost euro spend tax account surplus invoice".split(),
    "staff": "hire salary leave holiday contract training shift".split(),
    "building": "roof heating window floor repair lift parking".split(),
}
common = "the board said that we will meet and talk about it in may with a vote on this point".split()


def document(topic):
    n = random.randint(30, 140)
    return " ".join(random.choice(lex[topic]) if random.random() < 0.12 else random.choice(common) for _ in range(n))


names = [random.choice(topics) for _ in range(700)]
data = Dataset.from_dict({"text": [document(t) for t in names], "label": [topics.index(t) for t in names]})
data = data.cast_column("label", ClassLabel(names=topics)).train_test_split(test_size=100, seed=5,
                                                                            stratify_by_column="label")

tk = Tokenizer(models.WordPiece(unk_token="<unk>"))
tk.pre_tokenizer = pre_tokenizers.Whitespace()
tk.train_from_iterator(data["train"]["text"], trainers.WordPieceTrainer(
    vocab_size=400, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"]))
tk.post_processor = processors.RobertaProcessing(sep=("</s>", 2), cls=("<s>", 0))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tk, bos_token="<s>", cls_token="<s>", eos_token="</s>",
                                    sep_token="</s>", unk_token="<unk>", pad_token="<pad>", mask_token="<mask>",
                                    model_max_length=MAX_LEN)


def encode(batch):
    return tokenizer(batch["text"], padding="max_length", truncation=True)


data = data.map(encode, batched=True, remove_columns=["text"])
config = RobertaConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=2,
                       intermediate_size=128, max_position_embeddings=MAX_LEN, type_vocab_size=1,
                       num_labels=len(topics), pad_token_id=1, bos_token_id=0, eos_token_id=2)
model = RobertaForSequenceClassification(config)

training_args = TrainingArguments(output_dir="minutes_clf", learning_rate=1e-3, num_train_epochs=5,
                                  per_device_train_batch_size=16, eval_strategy="epoch", save_strategy="no",
                                  report_to="none", logging_steps=20, use_cpu=True, seed=5)
trainer = Trainer(model=model, args=training_args, train_dataset=data["train"], eval_dataset=data["test"],
                  data_collator=default_data_collator,
                  compute_metrics=lambda p: {"acc": (np.argmax(p.predictions, -1) == p.label_ids).mean()})
trainer.train()
print(trainer.evaluate())
