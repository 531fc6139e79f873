import numpy as np
from datasets import Dataset
from sklearn.datasets import load_digits
from transformers import (Trainer, TrainerCallback, TrainingArguments, ViTConfig, ViTForImageClassification,
                          set_seed)

set_seed(42)
bunch = load_digits()
images = (bunch.images / 8.0 - 1.0).astype(np.float32)[:, None]
rng = np.random.default_rng(42)
order = rng.permutation(len(images))
first, second, test = order[:700], order[700:1400], order[1400:]


def table(rows, labels):
    return Dataset.from_dict({"pixel_values": images[rows], "labels": labels[rows]})


def accuracy(pred):
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


def arguments(epochs, lr):
    return TrainingArguments(
        output_dir="out_halves", num_train_epochs=epochs, learning_rate=lr, per_device_train_batch_size=16,
        per_device_eval_batch_size=128, warmup_ratio=0.1, eval_strategy="epoch", logging_strategy="epoch",
        save_strategy="no", report_to="none", disable_tqdm=True)


# step 1: pretrain on the easy question "below five or not"
config = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=64, num_hidden_layers=2,
                   num_attention_heads=4, intermediate_size=128, num_labels=2)
coarse = (bunch.target >= 5).astype(int)
trainer = Trainer(ViTForImageClassification(config), arguments(5, 1e-3), train_dataset=table(first, coarse),
                  eval_dataset=table(test, coarse), compute_metrics=accuracy)
trainer.train()
trainer.save_model("out_halves/coarse")

# step 2: all ten digits on top of it
model = ViTForImageClassification.from_pretrained("out_halves/coarse", num_labels=10, ignore_mismatched_sizes=True)


class GradualUnfreezing(TrainerCallback):
    """One epoch with the head alone, so that its random start does not disturb the encoder."""

    def on_epoch_begin(self, args, state, control, model=None, **kwargs):
        if round(state.epoch or 0) == 1:
            for p in model.vit.parameters():
                p.requires_grad = True
            print("encoder unfrozen:", sum(p.numel() for p in model.parameters() if p.requires_grad), "weights")


for p in model.vit.parameters():
    p.requires_grad = False

trainer = Trainer(model, arguments(12, 1e-3), train_dataset=table(second, bunch.target),
                  eval_dataset=table(test, bunch.target), compute_metrics=accuracy,
                  callbacks=[GradualUnfreezing()])
trainer.train()
print("ten digits:", trainer.evaluate()["eval_accuracy"])
