"""Undo a substitution cipher with a small BART; easy (short) messages first, rows sorted by length, Adafactor, label smoothing."""
import numpy as np
import torch
from torch.utils.data import Dataset, SequentialSampler
from transformers import (BartConfig, BartForConditionalGeneration, DataCollatorForSeq2Seq, PreTrainedTokenizerFast, Seq2SeqTrainer,
                          Seq2SeqTrainingArguments, set_seed)
from tokenizers import Tokenizer, models, pre_tokenizers, processors

set_seed(31)
rng = np.random.default_rng(31)
LETTERS = "abcdefghijklmnop"
KEY = dict(zip(LETTERS, rng.permutation(list(LETTERS))))

vocab = {t: i for i, t in enumerate(["<pad>", "</s>", "<unk>"] + list(LETTERS))}
core = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
tok = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


class Messages(Dataset):
    def __init__(self, lengths):
        self.rows = []
        for n in lengths:
            plain = "".join(rng.choice(list(LETTERS), n))
            coded = "".join(KEY[c] for c in plain)
            self.rows.append({**tok(coded, return_token_type_ids=False), "labels": tok(plain)["input_ids"]})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return dict(self.rows[i])


class EasyFirst(Seq2SeqTrainer):
    def _get_train_sampler(self, train_dataset=None):
        return SequentialSampler(train_dataset if train_dataset is not None else self.train_dataset)


def metrics(p):
    guess, truth = p.predictions[:, 1:], p.label_ids
    width = max(guess.shape[1], truth.shape[1])
    pad = lambda a: np.pad(np.where(a < 0, 0, a), ((0, 0), (0, width - a.shape[1])))
    guess, truth = pad(guess), pad(truth)
    return {"exact": float((guess == truth).all(1).mean()), "letters": float((guess == truth)[truth > 1].mean())}


model = BartForConditionalGeneration(BartConfig(
    vocab_size=len(vocab), d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, max_position_embeddings=32, dropout=0.0,
    pad_token_id=0, bos_token_id=1, eos_token_id=1, decoder_start_token_id=0, forced_eos_token_id=None))
args = Seq2SeqTrainingArguments(output_dir="ciphers", num_train_epochs=6, per_device_train_batch_size=16,
                                per_device_eval_batch_size=50, optim="adafactor", learning_rate=2e-3,
                                lr_scheduler_type="constant_with_warmup", warmup_steps=40, label_smoothing_factor=0.1,
                                predict_with_generate=True, generation_max_length=14, logging_steps=50,
                                save_strategy="no", report_to="none", disable_tqdm=True)
trainer = EasyFirst(model=model, args=args, train_dataset=Messages(np.sort(rng.integers(2, 9, 1600))),
                    eval_dataset=Messages(rng.integers(2, 9, 150)), processing_class=tok,
                    data_collator=DataCollatorForSeq2Seq(tok, model=model), compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
