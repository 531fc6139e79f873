# doubles the amounts in a list of ingredients; ids are made by hand, 0 pads, 1 starts and 2 ends a line
import random

import numpy as np
import torch
from transformers import BartConfig, BartForConditionalGeneration, Seq2SeqTrainer, Seq2SeqTrainingArguments, set_seed

set_seed(12)
UNITS = "g kg ml cups spoons pinches".split()
FOODS = "flour sugar milk rice lentils salt oil oats water yeast".split()
WORDS = ["<pad>", "<go>", "<end>", ","] + [str(i) for i in range(21)] + UNITS + FOODS
ID = {w: i for i, w in enumerate(WORDS)}


def recipe():
    lines = [(random.randint(1, 10), random.choice(UNITS), random.choice(FOODS)) for _ in range(random.randint(1, 3))]
    source = [t for n, u, f in lines for t in (str(n), u, f, ",")]
    target = [t for n, u, f in lines for t in (str(2 * n), u, f, ",")]
    return {"source": [ID[t] for t in source] + [2], "target": [ID[t] for t in target] + [2]}


def pad(rows, value):
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(r) for r in rows], batch_first=True, padding_value=value)


def collate(rows):
    source = pad([r["source"] for r in rows], 0)
    return {"input_ids": source, "attention_mask": source.ne(0).long(),
            "decoder_input_ids": pad([[1] + r["target"][:-1] for r in rows], 0),
            "labels": pad([r["target"] for r in rows], -100)}


def metrics(p):
    width = min(p.predictions.shape[1] - 1, p.label_ids.shape[1])
    guess, truth = p.predictions[:, 1:width + 1], p.label_ids[:, :width]
    return {"whole_recipe": float(np.mean(((guess == truth) | (truth < 0)).all(1)))}


class ScaleTrainer(Seq2SeqTrainer):
    def prediction_step(self, model, inputs, *args, **kwargs):
        inputs = {k: v for k, v in inputs.items() if k != "decoder_input_ids"}
        return super().prediction_step(model, inputs, *args, **kwargs)


model = BartForConditionalGeneration(BartConfig(
    vocab_size=len(WORDS), d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, max_position_embeddings=32, dropout=0.05,
    pad_token_id=0, bos_token_id=1, decoder_start_token_id=1, eos_token_id=2, forced_eos_token_id=None))
trainer = ScaleTrainer(
    model=model,
    args=Seq2SeqTrainingArguments("out/recipe", num_train_epochs=14, learning_rate=2e-3, warmup_ratio=0.1,
                                  per_device_train_batch_size=32, per_device_eval_batch_size=100, logging_steps=100,
                                  predict_with_generate=True, generation_max_length=16, generation_num_beams=1,
                                  remove_unused_columns=False, save_strategy="no", report_to="none", use_cpu=True),
    train_dataset=[recipe() for _ in range(1600)],
    eval_dataset=[recipe() for _ in range(200)],
    data_collator=collate,
    compute_metrics=metrics,
)
trainer.train()
print(trainer.evaluate())
