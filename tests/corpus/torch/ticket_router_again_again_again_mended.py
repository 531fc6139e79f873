import random
import tempfile
import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

QUEUES = {
    "billing": ["invoice", "refund", "charged twice", "payment failed", "credit card", "receipt"],
    "network": ["wifi drops", "router", "slow connection", "no internet", "vpn", "dns error"],
    "hardware": ["screen cracked", "battery", "keyboard", "noisy fan", "charger", "laptop hinge"],
    "account": ["password", "locked out", "two factor", "username", "login code", "profile email"],
}
OPENERS = ["hello i have a question about the", "please help with", "since yesterday there is a problem:",
           "urgent", "my colleague reported", "not sure whom to ask but"]
CLOSERS = ["thanks", "waiting for your answer", "this is the second time i write", "best regards", "asap please"]


def make_tickets(n, seed):
    rnd = random.Random(seed)
    names = list(QUEUES)
    rows = []
    for _ in range(n):
        q = rnd.randrange(len(names))
        words = rnd.sample(QUEUES[names[q]], 2)
        if rnd.random() < 0.3:
            words.append(rnd.choice(QUEUES[rnd.choice(names)]))
        text = f"{rnd.choice(OPENERS)} {' and '.join(words)} {rnd.choice(CLOSERS)}"
        rows.append({"text": text, "queue": q})
    return Dataset.from_list(rows)


def train_tokenizer(texts):
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.train_from_iterator(texts, trainers.WordPieceTrainer(
        vocab_size=400, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]",
                                   cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")


def compute_metrics(p):
    pred = np.argmax(p.predictions, axis=-1)
    return {"accuracy": accuracy_score(p.label_ids, pred), "f1": f1_score(p.label_ids, pred, average="macro")}


def main():
    set_seed(17)
    train, test = make_tickets(1600, 1), make_tickets(400, 2)
    tokenizer = train_tokenizer(train["text"])

    def encode(batch):
        enc = tokenizer(batch["text"], truncation=True, max_length=48)
        enc["labels"] = batch["queue"]
        return enc

    train = train.map(encode, batched=True, remove_columns=["text", "queue"])
    test = test.map(encode, batched=True, remove_columns=["text", "queue"])
    config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=128, max_position_embeddings=64, num_labels=len(QUEUES))
    args = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=4, learning_rate=1e-3,
                             per_device_train_batch_size=32, per_device_eval_batch_size=100, eval_strategy="epoch",
                             save_strategy="no", logging_steps=50, report_to="none", use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=train,
                      eval_dataset=test, data_collator=DataCollatorWithPadding(tokenizer),
                      compute_metrics=compute_metrics)
    trainer.train()
    m = trainer.evaluate()
    print(f"accuracy {m['eval_accuracy']:.3f} macro f1 {m['eval_f1']:.3f} loss {m['eval_loss']:.3f}")


if __name__ == "__main__":
    main()
