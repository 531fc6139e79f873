"""GPT-2 that learns to reverse short strings; only the answer part is scored."""
import random
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

LETTERS = "abcdefgh"
CHARS = {c: i for i, c in enumerate("_" + LETTERS + "=.")}
LENGTH = 4


def random_word(rng):
    return "".join(rng.choice(LETTERS) for _ in range(LENGTH))


def encode(s):
    return [CHARS[c] for c in s]


class ReverseTask(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.words = [random_word(rng) for _ in range(n)]

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        prompt = encode(self.words[i] + "=")
        answer = encode(self.words[i][::-1] + ".")
        ids = prompt + answer
        return {"input_ids": ids, "labels": [-100] * len(prompt) + answer}


class ReverseTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        logits = outputs.logits[:, :-1].reshape(-1, outputs.logits.size(-1))
        loss = torch.nn.functional.cross_entropy(
            logits, labels[:, 1:].reshape(-1), ignore_index=-100
        )
        return (loss, outputs) if return_outputs else loss


@torch.no_grad()
def exact_match(model, n=300):
    model.eval()
    rng = random.Random(777)
    words = [random_word(rng) for _ in range(n)]
    ids = torch.tensor([encode(w + "=") for w in words])
    for _ in range(LENGTH):
        nxt = model(input_ids=ids).logits[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, nxt], dim=1)
    gold = torch.tensor([encode(w[::-1]) for w in words])
    return (ids[:, -LENGTH:] == gold).all(1).float().mean().item()


def main():
    set_seed(5)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(CHARS), n_positions=2 * LENGTH + 2, n_embd=64, n_layer=2, n_head=4,
            bos_token_id=0, eos_token_id=CHARS["."], resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        )
    )
    args = TrainingArguments(
        output_dir=tempfile.mkdtemp(), num_train_epochs=6, per_device_train_batch_size=64,
        learning_rate=3e-3, lr_scheduler_type="cosine", warmup_steps=40, logging_steps=60,
        save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True,
    )
    trainer = ReverseTrainer(
        model=model, args=args, train_dataset=ReverseTask(2500, 1), eval_dataset=ReverseTask(300, 2)
    )
    trainer.train()
    r = trainer.evaluate()
    print(f"eval loss {r['eval_loss']:.4f}, exact match {exact_match(model):.4f}")


if __name__ == "__main__":
    main()
