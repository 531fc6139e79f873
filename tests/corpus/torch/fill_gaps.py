import math
import random
import torch
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments, set_seed

set_seed(13)
rng = random.Random(13)
LETTERS = "abcdefghijklmnopqrst"
MASK, FIRST = 0, 1
VOCAB_SIZE = FIRST + len(LETTERS)
WIDTH = 16


def pattern():
    period = rng.choice([2, 3])
    motif = [FIRST + rng.randrange(len(LETTERS)) for _ in range(period)]
    shift = rng.randrange(period)
    return [motif[(i + shift) % period] for i in range(WIDTH)]


def hide(rows):
    ids = torch.tensor([r["ids"] for r in rows])
    chosen = torch.rand(ids.shape) < 0.2
    labels = ids.masked_fill(~chosen, -100)
    return {"input_ids": ids.masked_fill(chosen, MASK), "labels": labels}


def reduce_logits(logits, labels):
    return logits.argmax(-1)


def metrics(p):
    keep = p.label_ids != -100
    return {"gap_accuracy": float((p.predictions == p.label_ids)[keep].mean()), "gap_share": float(keep.mean())}


config = BertConfig(vocab_size=VOCAB_SIZE, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=WIDTH, type_vocab_size=1,
                    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, pad_token_id=None)
model = BertForMaskedLM(config)
args = TrainingArguments(
    output_dir="out/gaps", max_steps=550, per_device_train_batch_size=32,
    per_device_eval_batch_size=100, learning_rate=2e-3, warmup_steps=100, lr_scheduler_type="cosine",
    logging_steps=150, remove_unused_columns=False, save_strategy="no", report_to="none",
    use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args,
                  train_dataset=[{"ids": pattern()} for _ in range(6000)],
                  eval_dataset=[{"ids": pattern()} for _ in range(400)],
                  data_collator=hide, compute_metrics=metrics, preprocess_logits_for_metrics=reduce_logits)
before = trainer.evaluate()
trainer.train()
after = trainer.evaluate()
print(f"ln(vocab) {math.log(VOCAB_SIZE):.3f}, loss before {before['eval_loss']:.3f}, after {after['eval_loss']:.3f}")
print(f"filled correctly {after['eval_gap_accuracy']:.3f} of {after['eval_gap_share']:.3f} hidden (chance {1 / len(LETTERS):.3f})")
