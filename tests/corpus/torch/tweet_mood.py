import random
import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(21)
rnd = random.Random(21)
GOOD = "love great happy awesome brilliant sunny enjoy thanks".split()
BAD = "hate awful sad terrible broken rainy annoyed never".split()
FILL = "the a this that today train phone coffee game match show is was so very with my our new old".split()


def tweet(label):
    words = rnd.choices(FILL, k=rnd.randint(5, 14))
    for _ in range(rnd.randint(1, 3)):
        words.insert(rnd.randint(0, len(words)), rnd.choice(GOOD if label else BAD))
    if rnd.random() < 0.2:
        words.insert(rnd.randint(0, len(words)), rnd.choice(BAD if label else GOOD))
        words += rnd.choices(GOOD if label else BAD, k=2)
    if rnd.random() < 0.3:
        words.insert(0, "@user")
    if rnd.random() < 0.2:
        words.append("HTTPURL")
    return " ".join(words)


def build_tokenizer(texts):
    core = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    core.normalizer = normalizers.Lowercase()
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.train_from_iterator(texts, trainers.WordLevelTrainer(
        vocab_size=60, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    fast = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]")
    fast.add_tokens(["@user", "HTTPURL"])
    return fast


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    pred = np.argmax(logits, axis=-1)
    return {"accuracy": accuracy_score(labels, pred), "f1": f1_score(labels, pred)}


def main():
    labels = [rnd.randint(0, 1) for _ in range(1000)]
    texts = [tweet(l) for l in labels]
    tokenizer = build_tokenizer(texts)

    ds = Dataset.from_dict({"text": texts, "label": labels})
    ds = ds.map(lambda b: tokenizer(b["text"], truncation=True, max_length=32), batched=True)
    ds = ds.train_test_split(test_size=0.2, seed=21)

    config = DistilBertConfig(
        vocab_size=tokenizer.vocab_size, dim=64, n_layers=2, n_heads=4, hidden_dim=128,
        max_position_embeddings=40, pad_token_id=tokenizer.pad_token_id, num_labels=2)
    model = DistilBertForSequenceClassification(config)

    args = TrainingArguments(
        output_dir="out", num_train_epochs=5, learning_rate=1e-3,
        per_device_train_batch_size=32, per_device_eval_batch_size=64,
        eval_strategy="epoch", logging_strategy="epoch", save_strategy="no",
        report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                      data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
    trainer.train()
    result = trainer.evaluate()
    print(f"accuracy {result['eval_accuracy']:.3f}  f1 {result['eval_f1']:.3f}  loss {result['eval_loss']:.4f}")


if __name__ == "__main__":
    main()
