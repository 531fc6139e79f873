"""A small GPT on day-by-day weather. The source is a Markov chain, so its entropy is the best loss there is."""
import math
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed

set_seed(9)
states = ["sun", "cloud", "rain", "storm", "fog", "snow"]
P = torch.tensor([[.35, .30, .10, .05, .15, .05], [.20, .25, .30, .10, .10, .05], [.10, .30, .30, .20, .05, .05],
                  [.15, .25, .35, .15, .05, .05], [.35, .20, .15, .05, .20, .05], [.10, .30, .10, .05, .15, .30]])


class Chains(Dataset):
    def __init__(self, n, length=32):
        seq = [torch.randint(6, (n,))]
        for _ in range(length - 1):
            seq.append(torch.multinomial(P[seq[-1]], 1).squeeze(1))
        self.x = torch.stack(seq, 1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        labels = self.x[i].clone()
        labels[0] = -100
        return {"input_ids": self.x[i], "labels": labels}


class ShowSample(TrainerCallback):
    @torch.no_grad()
    def on_log(self, args, state, control, model=None, **kwargs):
        model.eval()
        x = torch.tensor([[0]])
        for _ in range(8):
            probs = model(input_ids=x).logits[:, -1].softmax(-1)
            x = torch.cat([x, torch.multinomial(probs, 1)], 1)
        print(" ".join(states[i] for i in x[0]))


pi = torch.matrix_power(P, 50)[0]
floor = -(pi[:, None] * P * P.log()).sum().item()
model = GPT2LMHeadModel(GPT2Config(vocab_size=6, n_positions=32, n_embd=32, n_layer=2, n_head=2,
                                   bos_token_id=None, eos_token_id=None))
args = TrainingArguments(output_dir="weather", per_device_train_batch_size=4, gradient_accumulation_steps=8,
                         num_train_epochs=3, learning_rate=3e-3, logging_steps=20, eval_strategy="epoch",
                         save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=Chains(1500), eval_dataset=Chains(300),
                  callbacks=[ShowSample()])
trainer.train()
loss = trainer.evaluate()["eval_loss"]
print(f"eval loss {loss:.4f}  entropy of the source {floor:.4f}  log 6 = {math.log(6):.4f}")
with torch.no_grad():
    got = torch.stack([model(input_ids=torch.tensor([[2, 1, s]])).logits[0, -1].softmax(-1) for s in range(6)])
print("largest gap to the true transition matrix:", (got - P).abs().max().item())
