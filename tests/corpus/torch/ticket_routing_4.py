"""Route support tickets to a team with a small BERT trained from scratch (HF Trainer)."""
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

SEED = 5
TEAMS = ["billing", "network", "hardware", "accounts"]
WORDS = {
    "billing": "invoice refund charge payment card receipt price subscription".split(),
    "network": "wifi vpn router latency timeout dns proxy cable".split(),
    "hardware": "laptop screen keyboard battery printer fan dock mouse".split(),
    "accounts": "password login username locked reset email profile access".split(),
}
FILL = ("please help my the is not working since yesterday again we need someone to look at this "
        "hello thanks it was fine before update now nothing happens and").split()


def make_ticket(rnd):
    team = rnd.randrange(len(TEAMS))
    n = rnd.randint(6, 28)
    words = [rnd.choice(FILL) for _ in range(n)]
    for _ in range(rnd.randint(2, 3)):
        words.insert(rnd.randrange(len(words)), rnd.choice(WORDS[TEAMS[team]]))
    other = rnd.choice(TEAMS)
    words.insert(rnd.randrange(len(words)), rnd.choice(WORDS[other]))
    return {"text": " ".join(words), "label": team}


def build_tokenizer(texts):
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordPieceTrainer(
        vocab_size=260, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", tok.token_to_id("[CLS]")), ("[SEP]", tok.token_to_id("[SEP]"))])
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]", model_max_length=64)


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float((np.argmax(logits, -1) == labels).mean())}


def main():
    set_seed(SEED)
    rnd = random.Random(SEED)
    train = Dataset.from_list([make_ticket(rnd) for _ in range(1600)])
    test = Dataset.from_list([make_ticket(rnd) for _ in range(400)])
    tokenizer = build_tokenizer(train["text"])

    def encode(batch):
        return tokenizer(batch["text"], truncation=True)

    train = train.map(encode, batched=True, remove_columns=["text"])
    test = test.map(encode, batched=True, remove_columns=["text"])

    model = BertForSequenceClassification(BertConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=64, num_labels=len(TEAMS),
        pad_token_id=tokenizer.pad_token_id))
    args = TrainingArguments(
        output_dir="out/tickets", num_train_epochs=5, per_device_train_batch_size=32,
        per_device_eval_batch_size=64, learning_rate=1e-3, warmup_ratio=0.1, logging_steps=50,
        eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True,
        disable_tqdm=True, seed=SEED)
    trainer = Trainer(
        model=model,
        args=args,
        train_dataset=train,
        eval_dataset=test,
        compute_metrics=compute_metrics,
    )
    trainer.train()
    result = trainer.evaluate()
    majority = max(np.bincount(test["label"])) / len(test)
    print(f"test accuracy {result['eval_accuracy']:.3f} (majority {majority:.3f})")


if __name__ == "__main__":
    main()
