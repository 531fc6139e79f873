import torch
import torch.nn as nn
import torch.nn.functional as F
from datasets import Dataset
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from transformers import Trainer, TrainingArguments, set_seed
from transformers.utils import ModelOutput

set_seed(1)
digits = load_digits()
pixels = (digits.data / 16.0).astype("float32")
full = Dataset.from_dict({"pixels": pixels, "digit": digits.target}).with_format("torch")
parts = full.train_test_split(test_size=0.2, seed=1)


class VAE(nn.Module):
    def __init__(self, d_in=64, hidden=128, d_z=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d_in, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU())
        self.mu = nn.Linear(hidden, d_z)
        self.logvar = nn.Linear(hidden, d_z)
        self.dec = nn.Sequential(nn.Linear(d_z, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(),
                                 nn.Linear(hidden, d_in), nn.Sigmoid())

    def forward(self, pixels):
        h = self.enc(pixels)
        mu, logvar = self.mu(h), self.logvar(h).clamp(-8, 8)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if self.training else mu
        recon = self.dec(z)
        rec = F.binary_cross_entropy(recon, pixels)
        kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(dim=1).mean()
        return ModelOutput(loss=rec + kl, recon=recon, mu=mu)


model = VAE()
args = TrainingArguments(output_dir="out_latent", num_train_epochs=40, per_device_train_batch_size=64,
                         learning_rate=2e-3, lr_scheduler_type="cosine", weight_decay=0.0, logging_steps=100,
                         save_strategy="no", report_to="none", disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=parts["train"])
trainer.train()

model.eval()
with torch.no_grad():
    tr = model(torch.as_tensor(parts["train"]["pixels"][:]))
    x = torch.as_tensor(parts["test"]["pixels"][:])
    te = model(x)
print(f"reconstruction mse {F.mse_loss(te.recon, x):.4f}   (pixel variance {x.var(dim=0).mean():.4f})")
print("spread of the latent means:", [round(v, 3) for v in te.mu.std(dim=0).tolist()])
probe = LogisticRegression(max_iter=2000).fit(tr.mu.numpy(), parts["train"]["digit"][:].numpy())
print(f"digit from latent code: {probe.score(te.mu.numpy(), parts['test']['digit'][:].numpy()):.3f}")
