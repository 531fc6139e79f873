"""Small ViT on 8x8 digits with the Trainer, afterwards a sorting run over 'letters'."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, ViTConfig, ViTForImageClassification, set_seed


class DigitImages(Dataset):
    def __init__(self, images, targets, jitter=False):
        self.images = torch.tensor(images, dtype=torch.float32).div(8).sub(1).unsqueeze(1)
        self.targets = torch.tensor(targets)
        self.jitter = jitter

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        img = self.images[i]
        if self.jitter:
            shift = int(torch.randint(-1, 2, ()))
            img = torch.roll(img, shift, dims=2)
        return {"pixel_values": img, "labels": self.targets[i]}


def build_model():
    config = ViTConfig(image_size=8, patch_size=2, num_channels=1, hidden_size=64,
                       num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                       hidden_dropout_prob=0.2, attention_probs_dropout_prob=0.1,
                       num_labels=10, initializer_range=0.06)
    return ViTForImageClassification(config)


class LetterSorter:
    """Reads the five digits of a postcode and chooses the bin from the first two."""

    def __init__(self, model, min_confidence=0.5):
        self.model = model.eval()
        self.min_confidence = min_confidence

    @torch.no_grad()
    def read(self, images):
        probs = self.model(pixel_values=images).logits.softmax(-1)
        conf, digit = probs.max(-1)
        return digit, conf

    def sort(self, letters):
        digits, conf = self.read(letters.flatten(0, 1))
        digits, conf = digits.view(len(letters), 5), conf.view(len(letters), 5)
        bins = digits[:, 0] * 10 + digits[:, 1]
        by_hand = (conf < self.min_confidence).any(1)
        return digits, bins, by_hand


def make_letters(data, n, seed):
    rng = np.random.default_rng(seed)
    pick = torch.from_numpy(rng.integers(0, len(data), (n, 5)))
    return data.images[pick], data.targets[pick]


def main():
    set_seed(17)
    digits = load_digits()
    xtr, xte, ytr, yte = train_test_split(digits.images, digits.target, test_size=0.25,
                                          stratify=digits.target, random_state=17)
    train, test = DigitImages(xtr, ytr, jitter=True), DigitImages(xte, yte)
    args = TrainingArguments(
        output_dir="out",
        num_train_epochs=14,
        per_device_train_batch_size=24,
        gradient_accumulation_steps=2,
        learning_rate=3e-3,
        warmup_ratio=0.1,
        lr_scheduler_type="cosine",
        logging_steps=100,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(model=build_model(), args=args, train_dataset=train)
    trainer.train()

    letters, codes = make_letters(test, 300, seed=2)
    sorter = LetterSorter(trainer.model)
    digits_read, bins, by_hand = sorter.sort(letters)
    digit_acc = (digits_read == codes).float().mean().item()
    whole = (digits_read == codes).all(1).float().mean().item()
    right_bin = (bins == codes[:, 0] * 10 + codes[:, 1]).float().mean().item()
    again, _ = sorter.read(letters.flatten(0, 1))
    same = (again.view_as(digits_read) == digits_read).float().mean().item()
    print(f"digits read correctly {digit_acc:.4f}, unchanged on a second reading {same:.4f}")
    print(f"whole postcodes {whole:.4f}  right bin {right_bin:.4f}  "
          f"sorted by hand {by_hand.float().mean().item():.4f}")


if __name__ == "__main__":
    main()
