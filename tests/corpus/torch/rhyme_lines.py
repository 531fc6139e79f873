# Tiny GPT-2 on rhyming couplets, HF Trainer with accumulated gradients and a schedule of our own
import math
import random
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(17)
RHYMES = [("night", "light", "bright", "flight"), ("day", "way", "bay", "clay"), ("sea", "tree", "bee", "key"), ("stone", "bone", "tone", "throne")]
ADJ = "old cold silver quiet golden broken".split()
VERB = "sings sleeps waits turns falls shines".split()
WORDS = ["<pad>", "<s>", "</s>", "/", "the", "by"] + ADJ + VERB + [w for r in RHYMES for w in r]
W2I = {w: i for i, w in enumerate(WORDS)}


def couplet(rng):
    a, b = rng.sample(rng.choice(RHYMES), 2)
    def half(end):
        return ["the"] + [rng.choice(ADJ) for _ in range(rng.randint(0, 2))] + [end, rng.choice(VERB), "by", "the", end]
    return ["<s>"] + half(a) + ["/"] + half(b) + ["</s>"]


def collate(rows):
    n = max(map(len, rows))
    ids = torch.tensor([r + [0] * (n - len(r)) for r in rows])
    am = torch.tensor([[1] * len(r) + [0] * (n - len(r)) for r in rows])
    return {"input_ids": ids, "attention_mask": am, "labels": ids.masked_fill(am == 0, -100)}


rng = random.Random(17)
data = [[W2I[w] for w in couplet(rng)] for _ in range(3000)]
dev = [[W2I[w] for w in couplet(rng)] for _ in range(300)]
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(WORDS), n_positions=32, n_embd=64, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2,
                                   pad_token_id=0, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
args = TrainingArguments(output_dir="out", num_train_epochs=5, per_device_train_batch_size=8, gradient_accumulation_steps=4,
                         per_device_eval_batch_size=100, eval_strategy="epoch", logging_steps=50, save_strategy="no", report_to="none",
                         disable_tqdm=True, seed=17)
opt = torch.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.95))
steps = 5 * math.ceil(3000 / 32)


def rate(k):     # quick rise, long plateau, then down as a root
    if k < 20:
        return (k + 1) / 20
    left = (steps - k) / (0.4 * steps)
    return min(1.0, max(left, 0.0) ** 0.5)


trainer = Trainer(model=model, args=args, train_dataset=data, eval_dataset=dev, data_collator=collate,
                  optimizers=(opt, torch.optim.lr_scheduler.LambdaLR(opt, rate)))
trainer.train()
model.eval()
out = model.generate(torch.ones(100, 1, dtype=torch.long), attention_mask=torch.ones(100, 1, dtype=torch.long), max_length=24, do_sample=True, top_k=0)
fam = {w: i for i, r in enumerate(RHYMES) for w in r}
good = 0
for row in out.tolist():
    ends = [fam[WORDS[i]] for i in row if WORDS[i] in fam]
    good += len(ends) == 4 and len(set(ends)) == 1
print(" ".join(WORDS[i] for i in out[0].tolist() if i))
print("couplets that rhyme:", good, "of 100")
