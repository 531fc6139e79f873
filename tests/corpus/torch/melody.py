# Trainer, causal language model: fixed motifs between free notes, so half of the tokens cannot be guessed
import math
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(9)
torch.manual_seed(9)
NOTES, MOTIF = 12, 3
motifs = torch.randint(0, NOTES, (NOTES, MOTIF))
NEW = ["<start>", "<rest>"]


class Tunes(Dataset):
    """A free note, then the three notes which always follow it; eight times."""

    def __init__(self, n):
        free = torch.randint(0, NOTES, (n, 8))
        bars = torch.cat([free.unsqueeze(-1), motifs[free]], dim=-1).flatten(1)
        self.ids = torch.cat([torch.full((n, 1), NOTES), bars, torch.full((n, 1), NOTES + 1)], dim=1)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        labels = self.ids[i].clone()
        labels[0] = -100
        return {"input_ids": self.ids[i], "labels": labels}


model = GPT2LMHeadModel(GPT2Config(vocab_size=NOTES, n_positions=48, n_embd=48, n_layer=2, n_head=4,
                                   bos_token_id=NOTES, eos_token_id=NOTES + 1, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
model.resize_token_embeddings(NOTES + len(NEW))

decay = [p for p in model.parameters() if p.ndim >= 2]
rest = [p for p in model.parameters() if p.ndim < 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0.0}], lr=3e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=480)

args = TrainingArguments("out_melody", num_train_epochs=6, per_device_train_batch_size=25, logging_steps=40,
                         eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=Tunes(2000), eval_dataset=Tunes(300),
                  optimizers=(optimizer, scheduler))
trainer.train()
loss = trainer.evaluate()["eval_loss"]
floor = 8 * math.log(NOTES) / (8 * (MOTIF + 1) + 1)
print(f"eval loss {loss:.3f}; the free notes alone cost {floor:.3f}")

start = torch.tensor([[NOTES, 4]])
out = model.eval().generate(start, attention_mask=torch.ones_like(start), max_new_tokens=3, do_sample=False,
                               pad_token_id=NOTES + 1)
print("after note 4:", out[0, 2:].tolist(), "should be", motifs[4].tolist())
