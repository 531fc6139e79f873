"""Train a very small GPT-2 on a controlled English grammar and count well-formed samples."""
import random
from dataclasses import dataclass

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed

SG, PL = ["cat", "dog", "bird", "child"], ["cats", "dogs", "birds", "children"]
VS, VP = ["sees", "likes", "hears"], ["see", "like", "hear"]


def noun_phrase(rng):
    if rng.random() < .5:
        return rng.choice(["a", "this"]), rng.choice(SG), True
    return rng.choice(["many", "these"]), rng.choice(PL), False


def make_sentence(rng):
    d, n, sing = noun_phrase(rng)
    d2, n2, _ = noun_phrase(rng)
    return f"{d} {n} {rng.choice(VS if sing else VP)} {d2} {n2} ."


def well_formed(text):
    w = text.split()
    if len(w) != 6 or w[5] != ".":
        return False
    np_ok = lambda d, n: (d in ("a", "this") and n in SG) or (d in ("many", "these") and n in PL)
    return np_ok(w[0], w[1]) and np_ok(w[3], w[4]) and w[2] in (VS if w[1] in SG else VP)


def build_tokenizer():
    words = ["<eos>", "<pad>", "<unk>", ".", "a", "this", "many", "these"] + SG + PL + VS + VP
    tok = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tok, eos_token="<eos>", bos_token="<eos>",
                                   pad_token="<pad>", unk_token="<unk>")


class GrammarDataset(Dataset):
    def __init__(self, tokenizer, n_sentences, block, seed):
        rng = random.Random(seed)
        stream = []
        for _ in range(n_sentences):
            stream += [tokenizer.bos_token_id] + tokenizer(make_sentence(rng))["input_ids"]
        self.blocks = [stream[i:i + block + 1] for i in range(0, len(stream) - block - 1, block)]

    def __len__(self):
        return len(self.blocks)

    def __getitem__(self, i):
        chunk = torch.tensor(self.blocks[i])
        return {"input_ids": chunk[:-1], "labels": chunk[:-1].clone()}


@dataclass
class Hyper:
    block: int = 42
    sentences: int = 4000
    lr: float = 3e-3


def main(h=Hyper()):
    set_seed(4)
    tok = build_tokenizer()
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tok), n_positions=64, n_embd=48, n_layer=2, n_head=4,
                                       bos_token_id=tok.bos_token_id, eos_token_id=tok.eos_token_id))
    args = TrainingArguments("gpt_out", num_train_epochs=4, per_device_train_batch_size=16, learning_rate=h.lr,
                             lr_scheduler_type="cosine", warmup_steps=20, logging_steps=40, eval_strategy="epoch",
                             save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
    trainer = Trainer(model=model, args=args, train_dataset=GrammarDataset(tok, h.sentences, h.block, 0),
                      eval_dataset=GrammarDataset(tok, 300, h.block, 1))
    trainer.train()
    model.eval()
    prompt = torch.full((100, 1), tok.bos_token_id)
    out = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=True, top_k=0, max_new_tokens=8,
                         pad_token_id=tok.pad_token_id)
    texts = [tok.decode(o[1:], skip_special_tokens=True) for o in out]
    print("\n".join(texts[:5]))
    print("well formed:", sum(map(well_formed, texts)), "of", len(texts))


if __name__ == "__main__":
    main()
