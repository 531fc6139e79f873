"""Pre-train a small RoBERTa on made-up log lines."""
import math
import random
from dataclasses import dataclass

from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import (DataCollatorForLanguageModeling, PreTrainedTokenizerFast, RobertaConfig,
                          RobertaForMaskedLM, Trainer, TrainingArguments, set_seed)


@dataclass
class Settings:
    lines: int = 3000
    merges: int = 300
    width: int = 64
    layers: int = 2
    seed: int = 21
    mlm: float = 0.15
    block: int = 40


def log_lines(n: int, seed: int) -> list[str]:
    r = random.Random(seed)
    who = ["scheduler", "gateway", "database", "mailer", "indexer"]
    what = {"scheduler": ["queued job", "dropped job", "finished job"],
            "gateway": ["accepted request", "refused request"],
            "database": ["opened table", "closed table", "locked table"],
            "mailer": ["sent letter", "bounced letter"],
            "indexer": ["merged segment", "wrote segment"]}
    out = []
    for _ in range(n):
        w = r.choice(who)
        level = r.choice(["<info>", "<warn>", "<error>"])
        end = "please check" if level == "<error>" else "all fine"
        out.append(f"{level} {w} {r.choice(what[w])} number {r.randint(1, 30)} {end}")
    return out


def build_tokenizer(lines: list[str], s: Settings) -> PreTrainedTokenizerFast:
    core = Tokenizer(BPE(unk_token="<unk>"))
    core.pre_tokenizer = ByteLevel(add_prefix_space=True)
    core.train_from_iterator(lines, BpeTrainer(vocab_size=s.merges, special_tokens=["<s>", "<pad>", "</s>", "<unk>"]))
    tok = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", cls_token="<s>",
                                  sep_token="</s>", pad_token="<pad>", unk_token="<unk>", mask_token="<mask>",
                                  model_max_length=s.block)
    tok.add_tokens(["<info>", "<warn>", "<error>"])
    return tok


def build_model(tok: PreTrainedTokenizerFast, s: Settings) -> RobertaForMaskedLM:
    config = RobertaConfig(
        vocab_size=tok.vocab_size,
        hidden_size=s.width,
        num_hidden_layers=s.layers,
        num_attention_heads=4,
        intermediate_size=2 * s.width,
        max_position_embeddings=s.block + 4,
        pad_token_id=tok.pad_token_id,
        bos_token_id=tok.bos_token_id,
        eos_token_id=tok.eos_token_id,
        type_vocab_size=1,
    )
    return RobertaForMaskedLM(config)


def main() -> None:
    s = Settings()
    set_seed(s.seed)
    lines = log_lines(s.lines, s.seed)
    tok = build_tokenizer(lines, s)
    print("tokenizer ready,", tok.tokenize(lines[0]))

    ds = Dataset.from_dict({"text": lines})
    ds = ds.map(lambda b: tok(b["text"], truncation=True, return_special_tokens_mask=True),
                batched=True, remove_columns=["text"])
    ds = ds.filter(lambda r: len(r["input_ids"]) > 4).train_test_split(0.1, seed=s.seed)

    model = build_model(tok, s)
    print(f"{model.num_parameters():,} parameters")
    args = TrainingArguments("out_logs", num_train_epochs=4, per_device_train_batch_size=32, learning_rate=2e-3,
                             warmup_ratio=0.1, logging_steps=50, eval_strategy="epoch", save_strategy="no",
                             report_to=[], use_cpu=True)
    trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                      data_collator=DataCollatorForLanguageModeling(tok, mlm=True, mlm_probability=s.mlm))
    trainer.train()
    print(f"perplexity {math.exp(trainer.evaluate()['eval_loss']):.2f}")


if __name__ == "__main__":
    main()
