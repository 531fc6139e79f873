"""LoRA without the peft library: low-rank updates for the query and value projections, the rest of the encoder stays as it is."""
import math

import torch
from datasets import load_dataset
from torch import nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments, set_seed


class LowRank(nn.Module):
    """A frozen linear layer plus B @ A, B starts at zero so that the model starts as the checkpoint."""

    def __init__(self, layer, rank=8, alpha=16):
        super().__init__()
        self.layer = layer
        self.layer.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(rank, layer.in_features))
        self.B = nn.Parameter(torch.zeros(layer.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / rank

    def forward(self, x):
        return self.layer(x) + self.scale * (x @ self.A.T) @ self.B.T


def add_adapters(model):
    for p in model.distilbert.parameters():
        p.requires_grad = False
    for block in model.distilbert.transformer.layer:
        block.attention.q_lin = LowRank(block.attention.q_lin)
        block.attention.v_lin = LowRank(block.attention.v_lin)
    return model


def main():
    set_seed(6)
    tokenizer = AutoTokenizer.from_pretrained("assets/distilbert-mini")
    data = load_dataset("assets/nli", "3_labels").map(
        lambda b: tokenizer(b["premise"], b["hypothesis"], truncation=True, max_length=100), batched=True)
    model = add_adapters(AutoModelForSequenceClassification.from_pretrained("assets/distilbert-mini", num_labels=3))
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"training {trainable:,} of {model.num_parameters():,} parameters")

    args = TrainingArguments(
        output_dir="lora",
        learning_rate=5e-4,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=50,
        num_train_epochs=1,
        warmup_ratio=0.06,
        logging_steps=20,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = Trainer(
        model=model, args=args, train_dataset=data["train"], eval_dataset=data["validation_matched"],
        data_collator=DataCollatorWithPadding(tokenizer),
        compute_metrics=lambda p: {"accuracy": (p.predictions.argmax(-1) == p.label_ids).mean()},
    )
    trainer.train()
    print(trainer.evaluate())
    # keep only what was trained, a few kilobytes
    state = {n: p for n, p in model.named_parameters() if p.requires_grad}
    torch.save(state, "adapters.pt")


if __name__ == "__main__":
    main()
