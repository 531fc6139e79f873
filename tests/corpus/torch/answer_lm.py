# Instruction tuning in miniature: GPT-2 (random weights) learns to answer little sums in words.
# Only the answer counts in the loss. Everything is generated, so there is no evaluation set, I just look at samples.
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.nn.utils.rnn import pad_sequence
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(21)
NUMBERS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
           "seventeen eighteen").split()
WORDS = ["<unk>", "<eos>"] + NUMBERS + "you are a helpful assistant please tell me what is plus and minus the answer : .".split()
vocab = {w: i for i, w in enumerate(dict.fromkeys(WORDS))}
backend = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tok = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", eos_token="<eos>", pad_token="<eos>", padding_side="right")

SYSTEM = "you are a helpful assistant ."


def prompt(a, op, b):
    return f"{SYSTEM} please tell me what is {NUMBERS[a]} {op} {NUMBERS[b]} ."


def example():
    op = random.choice(["plus", "minus"])
    a, b = random.randint(0, 9), random.randint(0, 9)
    if op == "minus" and a < b:
        a, b = b, a
    result = a + b if op == "plus" else a - b
    question = tok(prompt(a, op, b) + " the answer :").input_ids
    answer = tok(NUMBERS[result]).input_ids + [tok.eos_token_id]
    return {"input_ids": question + answer, "labels": [-100] * len(question) + answer}


class Sums(torch.utils.data.Dataset):
    """Fresh sums on every access."""

    def __len__(self):
        return 32 * 1000

    def __getitem__(self, _):
        return example()


def collate(rows):
    ids = [torch.tensor(r["input_ids"]) for r in rows]
    labels = [torch.tensor(r["labels"]) for r in rows]
    mask = [torch.ones_like(i) for i in ids]
    return {
        "input_ids": pad_sequence(ids, batch_first=True, padding_value=tok.pad_token_id),
        "attention_mask": pad_sequence(mask, batch_first=True),
        "labels": pad_sequence(labels, batch_first=True, padding_value=-100),
    }


class ShowSamples(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        if state.global_step % 250 == 0:
            model.eval()
            for a, op, b in [(3, "plus", 4), (9, "plus", 8), (7, "minus", 2)]:
                enc = tok(prompt(a, op, b) + " the answer :", return_tensors="pt")
                out = model.generate(input_ids=enc.input_ids, attention_mask=enc.attention_mask, max_new_tokens=3,
                                     do_sample=False, pad_token_id=tok.pad_token_id)
                print(state.global_step, NUMBERS[a], op, NUMBERS[b], "=", tok.decode(out[0][enc.input_ids.shape[1]:]))
            model.train()


model = GPT2LMHeadModel(GPT2Config(
    vocab_size=len(tok), n_positions=32, n_embd=64, n_layer=2, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    bos_token_id=tok.eos_token_id, eos_token_id=tok.eos_token_id, tie_word_embeddings=True,
))
trainer = Trainer(
    model=model,
    args=TrainingArguments(
        output_dir="sums", per_device_train_batch_size=32, max_steps=1000, learning_rate=3e-3, lr_scheduler_type="cosine",
        warmup_steps=25, logging_steps=100, save_strategy="no", eval_strategy="no", report_to="none", disable_tqdm=True,
    ),
    train_dataset=Sums(),
    data_collator=collate,
    callbacks=[ShowSamples()],
)
trainer.train()
