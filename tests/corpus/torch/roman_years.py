"""Years to Roman numerals with a small BART, label smoothing, beam-free generation at evaluation."""
import random
import numpy as np
from datasets import Dataset
from transformers import (BartConfig, BartForConditionalGeneration, DataCollatorForSeq2Seq, PreTrainedTokenizerFast,
                          Seq2SeqTrainer, Seq2SeqTrainingArguments, set_seed)
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

set_seed(6)


def roman(n):
    out = ""
    for v, s in [(100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]:
        while n >= v:
            out, n = out + s, n - v
    return out


vocab = {t: i for i, t in enumerate(["<pad>", "<s>", "</s>", "<unk>"] + list("0123456789CLXVI"))}
core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Split(Regex("."), behavior="isolated")
core.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", pad_token="<pad>",
                                    unk_token="<unk>")

numbers = list(range(1, 400))
random.shuffle(numbers)
held, train_numbers = numbers[:40], numbers[40:] * 6


def build(nums):
    return Dataset.from_dict({"input_ids": [tokenizer(str(n))["input_ids"] for n in nums],
                              "labels": [tokenizer(roman(n))["input_ids"][1:] for n in nums]})


model = BartForConditionalGeneration(BartConfig(
    vocab_size=len(vocab), d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, max_position_embeddings=32,
    pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, forced_eos_token_id=None,
    dropout=0.0, init_std=0.05))
model.generation_config.forced_eos_token_id = None


def compute_metrics(p):
    preds = np.where(p.predictions < 0, 0, p.predictions)
    labels = np.where(p.label_ids < 0, 0, p.label_ids)
    pairs = zip(tokenizer.batch_decode(preds, skip_special_tokens=True),
                tokenizer.batch_decode(labels, skip_special_tokens=True))
    return {"exact": float(np.mean([a.replace(" ", "") == b.replace(" ", "") for a, b in pairs]))}


args = Seq2SeqTrainingArguments(
    "roman", num_train_epochs=5, per_device_train_batch_size=32, learning_rate=3e-3, warmup_ratio=0.1,
    lr_scheduler_type="cosine", label_smoothing_factor=0.15, predict_with_generate=True, generation_max_length=20,
    logging_steps=68, save_strategy="no", report_to="none", seed=6)
trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=build(train_numbers), eval_dataset=build(held),
                         data_collator=DataCollatorForSeq2Seq(tokenizer, model=model), processing_class=tokenizer,
                         compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
