"""Tiny ViT on the 8x8 digits with consistency regularisation (two dropout passes, R-Drop style)."""
import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed

set_seed(31)


class Digits(Dataset):
    def __init__(self, images, labels):
        self.images = torch.tensor(images, dtype=torch.float32)[:, None]
        self.labels = torch.tensor(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"pixel_values": self.images[i], "labels": self.labels[i]}


class RDropTrainer(Trainer):
    def __init__(self, *args, alpha=0.5, **kwargs):
        super().__init__(*args, **kwargs)
        self.alpha = alpha

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        with self.compute_loss_context_manager():
            first = model(**inputs)
            second = model(**inputs)
            p = F.log_softmax(first.logits, dim=-1)
            q = F.log_softmax(second.logits, dim=-1)
            agree = 0.5 * (F.kl_div(p, q, log_target=True, reduction="batchmean")
                           + F.kl_div(q, p, log_target=True, reduction="batchmean"))
            loss = 0.5 * (first.loss + second.loss) + self.alpha * agree
        self.accelerator.backward(loss)
        return loss.detach() / self.args.gradient_accumulation_steps


class Printer(TrainerCallback):
    def on_evaluate(self, args, state, control, metrics=None, **kwargs):
        print("step %d val accuracy %.4f" % (state.global_step, metrics["eval_accuracy"]))


def accuracy(pred):
    return {"accuracy": float((pred.predictions.argmax(-1) == pred.label_ids).mean())}


def main():
    bunch = load_digits()
    images = (bunch.images / 16.0 - 0.5) / 0.5
    x_tr, x_te, y_tr, y_te = train_test_split(images, bunch.target, test_size=0.25,
                                              stratify=bunch.target, random_state=31)
    config = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=48,
                       num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
                       hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, num_labels=10)
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=10,
        per_device_train_batch_size=64,
        per_device_eval_batch_size=256,
        learning_rate=3e-3,
        warmup_ratio=0.1,
        max_grad_norm=1.0,
        eval_strategy="epoch",
        logging_steps=40,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = RDropTrainer(model=ViTForImageClassification(config), args=args,
                           train_dataset=Digits(x_tr, y_tr), eval_dataset=Digits(x_te, y_te),
                           compute_metrics=accuracy, callbacks=[Printer()])
    trainer.train()
    final = trainer.evaluate()
    print("test loss %.4f accuracy %.4f" % (final["eval_loss"], final["eval_accuracy"]))


if __name__ == "__main__":
    main()
