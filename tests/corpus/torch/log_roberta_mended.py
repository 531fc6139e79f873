import random
import tempfile

import numpy as np
from datasets import Dataset
from sklearn.metrics import f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    DataCollatorWithPadding,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    Trainer,
    TrainingArguments,
    set_seed,
)

MODEL = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "max_position_embeddings": 66,
    "type_vocab_size": 1,
    "num_labels": 3,
}
MAX_LENGTH = 64

SIGNS = {
    0: ["started", "ready", "listening", "healthy", "accepted"],
    1: ["retrying", "slow", "deprecated", "throttled", "backoff"],
    2: ["traceback", "refused", "panic", "corrupt", "aborted"],
}
FILLER = ["worker", "node", "queue", "request", "handler", "cache", "socket", "thread",
          "index", "table", "the", "on", "for", "with", "from", "at", "job", "disk"]


def make_logs(n, rng):
    texts, labels = [], []
    for _ in range(n):
        label = rng.randrange(3)
        length = rng.randint(15, 60) if rng.random() < 0.93 else rng.randint(65, 110)
        words = [rng.choice(FILLER) for _ in range(length)]
        for _ in range(3):
            words[rng.randrange(min(length, 55))] = rng.choice(SIGNS[label])
        texts.append(" ".join(words))
        labels.append(label)
    return texts, labels


def train_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=specials))
    tok.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tok, bos_token="<s>", eos_token="</s>", cls_token="<s>",
        sep_token="</s>", pad_token="<pad>", unk_token="<unk>", mask_token="<mask>")


def compute_metrics(pred):
    guess = np.argmax(pred.predictions, axis=-1)
    return {"macro_f1": f1_score(pred.label_ids, guess, average="macro")}


def main():
    set_seed(4)
    rng = random.Random(4)
    train_texts, train_labels = make_logs(1000, rng)
    test_texts, test_labels = make_logs(250, rng)
    tokenizer = train_tokenizer(train_texts)

    def encode(batch):
        return tokenizer(batch["text"], truncation=True, max_length=MAX_LENGTH)

    train = Dataset.from_dict({"text": train_texts, "label": train_labels}).map(encode, batched=True)
    test = Dataset.from_dict({"text": test_texts, "label": test_labels}).map(encode, batched=True)

    config = RobertaConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id,
                           bos_token_id=0, eos_token_id=2, **MODEL)
    trainer = Trainer(
        model=RobertaForSequenceClassification(config),
        args=TrainingArguments(
            output_dir=tempfile.mkdtemp(), num_train_epochs=4, learning_rate=1e-3,
            per_device_train_batch_size=16, per_device_eval_batch_size=64,
            warmup_ratio=0.1, logging_steps=50, save_strategy="no",
            disable_tqdm=True, report_to=[], use_cpu=True, seed=4),
        train_dataset=train,
        eval_dataset=test,
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=compute_metrics,
    )
    trainer.train()
    print(f"test macro F1 {trainer.evaluate()['eval_macro_f1']:.3f}")


if __name__ == "__main__":
    main()
