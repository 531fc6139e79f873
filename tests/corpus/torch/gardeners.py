"""Question-and-answer tuning of a small GPT-2; only the answer counts in the loss."""
import random
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed

SEED = 8
RESPONSE_TEMPLATE = "reply :"
PLANTS = {"leek": "march", "basil": "may", "garlic": "october", "kale": "june", "radish": "april", "pea": "february",
          "bean": "june", "onion": "march", "chard": "april", "squash": "may", "spinach": "august", "turnip": "july"}
BEDS = {"leek": "deep", "basil": "warm", "garlic": "dry", "kale": "rich", "radish": "loose", "pea": "limed",
        "bean": "warm", "onion": "dry", "chard": "rich", "squash": "rich", "spinach": "moist", "turnip": "loose"}
FORMS = ["when do you sow {p}", "which month is right for {p}", "tell me when {p} goes into the ground",
         "what soil does {p} want", "which bed should i give to {p}"]


def dialogue(rng, plant=None):
    plant = plant or rng.choice(list(PLANTS))
    k = rng.randrange(len(FORMS))
    if k < 3:
        answer = f"sow {plant} in {PLANTS[plant]}"
    else:
        answer = f"{plant} wants {BEDS[plant]} soil"
    return f"question : {FORMS[k].format(p=plant)} answer :", answer


def make_tokenizer(texts):
    words = sorted({w for t in texts for w in t.split()} | {"question", "answer", "reply", ":"})
    vocab = {w: i for i, w in enumerate(["<pad>", "<unk>", "<eos>"] + words)}
    core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>")


@dataclass
class CompletionCollator:
    tokenizer: PreTrainedTokenizerFast
    template: str

    def __call__(self, rows):
        batch = self.tokenizer.pad([{"input_ids": r["input_ids"]} for r in rows], return_tensors="pt")
        marker = self.tokenizer(self.template)["input_ids"]
        labels = torch.full_like(batch["input_ids"], -100)
        for i, row in enumerate(rows):
            ids = row["input_ids"]
            for s in range(len(ids) - len(marker)):
                if ids[s:s + len(marker)] == marker:
                    labels[i, s + len(marker):len(ids)] = torch.tensor(ids[s + len(marker):])
                    break
        batch["labels"] = labels
        return batch


def main():
    set_seed(SEED)
    rng = random.Random(SEED)
    talk = [dialogue(rng) for _ in range(900)]
    tok = make_tokenizer([f"{q} {a}" for q, a in talk])
    rows = [{"input_ids": tok(f"{q} {a}")["input_ids"] + [tok.eos_token_id]} for q, a in talk]

    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tok), n_positions=48, n_embd=64, n_layer=2, n_head=4,
                                       bos_token_id=tok.eos_token_id, eos_token_id=tok.eos_token_id,
                                       pad_token_id=tok.pad_token_id))
    args = TrainingArguments(output_dir="gardeners", num_train_epochs=8, per_device_train_batch_size=24,
                             learning_rate=2e-3, warmup_steps=20, logging_steps=25, save_strategy="no", report_to="none",
                             disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=rows, data_collator=CompletionCollator(tok, RESPONSE_TEMPLATE))
    trainer.train()

    model.eval()
    right, asked = 0, 60
    for _ in range(asked):
        q, a = dialogue(rng)
        enc = tok(q, return_tensors="pt")
        out = model.generate(enc["input_ids"], attention_mask=enc["attention_mask"], max_new_tokens=8, do_sample=False)
        right += tok.decode(out[0, enc["input_ids"].shape[1]:], skip_special_tokens=True).strip() == a
    print(f"answers right: {right}/{asked}")


if __name__ == "__main__":
    main()
