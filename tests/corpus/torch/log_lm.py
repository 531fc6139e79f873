import math
import random
import tempfile
from collections import Counter

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorForLanguageModeling, GPT2Config, GPT2LMHeadModel,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

SERVICES = ["auth", "cache", "mail", "search"]
VERBS = {"auth": ["login", "logout", "denied"], "cache": ["hit", "miss", "evict"],
         "mail": ["sent", "bounced", "queued"], "search": ["query", "timeout", "reindex"]}
LEVEL = {"denied": "WARN", "miss": "INFO", "evict": "INFO", "bounced": "WARN", "timeout": "ERROR",
         "reindex": "INFO", "login": "INFO", "logout": "INFO", "hit": "DEBUG", "sent": "INFO",
         "queued": "DEBUG", "query": "DEBUG"}
HOSTS = [f"node{i}" for i in range(6)]


def log_line(rng):
    events = []
    for _ in range(rng.randint(1, 4)):
        s = rng.choice(SERVICES)
        v = rng.choice(VERBS[s])
        events.append(f"{s} {v} {LEVEL[v]} on {rng.choice(HOSTS)} ;")
    return " ".join(events)


def build_tokenizer():
    words = (["<pad>", "<end>", "<unk>", "on", ";"] + SERVICES + [v for vs in VERBS.values() for v in vs]
             + sorted(set(LEVEL.values())) + HOSTS)
    core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<end>", unk_token="<unk>",
                                   pad_token="<pad>",
                                   model_input_names=["input_ids", "attention_mask"])


def dataset(tokenizer, n, seed):
    rng = random.Random(seed)
    texts = [log_line(rng) + " <end>" for _ in range(n)]
    raw = Dataset.from_dict({"text": texts})
    return raw.map(lambda b: tokenizer(b["text"]), batched=True,
                   remove_columns=["text"]), texts


def main():
    set_seed(8)
    tokenizer = build_tokenizer()
    train_ds, train_texts = dataset(tokenizer, 2000, 1)
    eval_ds, _ = dataset(tokenizer, 300, 2)
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=64, n_layer=2, n_head=2,
                        bos_token_id=tokenizer.eos_token_id, eos_token_id=tokenizer.eos_token_id)
    model = GPT2LMHeadModel(config)
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=3, per_device_train_batch_size=16,
        gradient_accumulation_steps=2, learning_rate=2e-3, warmup_steps=20,
        prediction_loss_only=True, eval_strategy="epoch", save_strategy="no", logging_steps=50,
        report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds,
                      data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False))
    trainer.train()
    loss = trainer.evaluate()["eval_loss"]

    counts = Counter(w for t in train_texts for w in t.split())
    total = sum(counts.values())
    unigram = -sum(c / total * math.log(c / total) for c in counts.values())
    print(f"eval loss {loss:.3f} (perplexity {math.exp(loss):.2f})")
    print(f"unigram baseline {unigram:.3f} (perplexity {math.exp(unigram):.2f})")


if __name__ == "__main__":
    main()
