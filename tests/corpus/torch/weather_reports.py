"""Data-to-text: a small T5 writes a forecast sentence from a record of readings."""
import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    DataCollatorForSeq2Seq,
    PreTrainedTokenizerFast,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    T5Config,
    T5ForConditionalGeneration,
    set_seed,
)


class ForecastWriter:
    places = ["harbour", "valley", "airport", "castle", "island", "forest", "bridge", "market"]
    skies = {"clr": "clear skies", "few": "a few clouds", "ovc": "an overcast sky", "fog": "thick fog", "shr": "passing showers"}
    winds = {"n": "north", "s": "south", "e": "east", "w": "west"}
    force = {"1": "a light", "2": "a moderate", "3": "a strong"}
    advice = {"low": "no warning is in force", "mid": "drivers should take some care", "high": "people should stay at home"}

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def row(self):
        r = self.rng
        place, sky, wind = r.choice(self.places), r.choice(list(self.skies)), r.choice(list(self.winds))
        force, risk, temp = r.choice(list(self.force)), r.choice(list(self.advice)), str(r.randint(1, 30))
        fields = [f"place {place}", f"sky {sky}", f"wind {wind}", f"force {force}", f"risk {risk}", f"temp {temp}"]
        r.shuffle(fields)
        text = (f"today the {place} will see {self.skies[sky]} with {self.force[force]} wind from the {self.winds[wind]} "
                f"and a high of {temp} degrees , {self.advice[risk]} .")
        return {"record": " ; ".join(fields), "report": text}

    def dataset(self, n):
        return Dataset.from_list([self.row() for _ in range(n)])


def build_tokenizer(texts):
    tok = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok.train_from_iterator(texts, trainers.WordLevelTrainer(special_tokens=["<pad>", "</s>", "<unk>"]))
    tok.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
                                   model_input_names=["input_ids", "attention_mask"])


def main():
    set_seed(3)
    train, valid = ForecastWriter(3).dataset(3000), ForecastWriter(4).dataset(200)
    tokenizer = build_tokenizer(list(train["record"]) + list(train["report"]))

    def preprocess(batch):
        return tokenizer(batch["record"], text_target=batch["report"], truncation=True, max_length=48)

    train_ds = train.map(preprocess, batched=True, remove_columns=["record", "report"])
    valid_ds = valid.map(preprocess, batched=True, remove_columns=["record", "report"])

    model = T5ForConditionalGeneration(
        T5Config(vocab_size=len(tokenizer), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_decoder_layers=2, num_heads=4,
                 dropout_rate=0.0, feed_forward_proj="gated-gelu", tie_word_embeddings=False, decoder_start_token_id=0,
                 pad_token_id=0, eos_token_id=1)
    )

    def compute_metrics(pred):
        ids = np.where(pred.predictions < 0, tokenizer.pad_token_id, pred.predictions)
        labels = np.where(pred.label_ids < 0, tokenizer.pad_token_id, pred.label_ids)
        hyp = tokenizer.batch_decode(ids, skip_special_tokens=True)
        ref = tokenizer.batch_decode(labels, skip_special_tokens=True)
        recall = [len(set(h.split()) & set(r.split())) / len(set(r.split())) for h, r in zip(hyp, ref)]
        return {
            "exact": float(np.mean([h == r for h, r in zip(hyp, ref)])),
            "word_recall": float(np.mean(recall)),
            "gen_len": float(np.mean([len(h.split()) for h in hyp])),
        }

    args = Seq2SeqTrainingArguments(
        output_dir="out/weather_reports",
        num_train_epochs=3,
        per_device_train_batch_size=32,
        per_device_eval_batch_size=100,
        learning_rate=4e-3,
        lr_scheduler_type="cosine",
        warmup_ratio=0.05,
        predict_with_generate=True,
        eval_strategy="steps",
        eval_steps=90,
        logging_steps=75,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=3,
    )
    trainer = Seq2SeqTrainer(
        model=model,
        args=args,
        train_dataset=train_ds,
        eval_dataset=valid_ds,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        compute_metrics=compute_metrics,
        processing_class=tokenizer,
    )
    trainer.train()

    result = trainer.predict(valid_ds)
    for k in range(3):
        row = result.predictions[k]
        print("  ", valid[k]["record"])
        print("   ->", tokenizer.decode(row[row >= 0], skip_special_tokens=True))
    print("held-out:", {k: round(v, 3) for k, v in result.metrics.items() if k in ("test_exact", "test_word_recall", "test_loss")})


if __name__ == "__main__":
    main()
