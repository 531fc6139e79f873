# %% Multi-label topics for paper abstracts with a small BERT
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordPieceTrainer
from torch.utils.data import Dataset
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast, Trainer,
                          TrainingArguments, set_seed)

set_seed(1)
gen = np.random.default_rng(1)

# %% corpus: each topic has its own vocabulary, every abstract mixes one to three topics with neutral words
TOPICS = {
    "astronomy": "galaxy telescope redshift orbit stellar spectra supernova dust halo photometry",
    "biology": "protein cell genome enzyme mutation tissue bacteria membrane antibody organism",
    "chemistry": "catalyst polymer solvent reaction molecule ligand oxidation synthesis compound acid",
    "economics": "inflation market wage trade subsidy household demand price policy labour",
    "learning": "network gradient classifier training embedding kernel dataset transformer benchmark sampling",
    "geology": "sediment basalt fault seismic erosion mantle glacier mineral volcano strata",
    "medicine": "patient therapy clinical dosage trial symptom surgery diagnosis placebo cohort",
    "climate": "rainfall warming emission aerosol ocean drought carbon monsoon temperature ice",
}
NAMES = list(TOPICS)
WORDS = {k: v.split() for k, v in TOPICS.items()}
NEUTRAL = ("we study the effect of a new method on results from data with several models and show that this approach "
           "improves over earlier work in many cases while the error stays small for large samples").split()


def abstract():
    chosen = gen.choice(len(NAMES), size=gen.integers(1, 4), replace=False)
    words = []
    for t in chosen:
        words += list(gen.choice(WORDS[NAMES[t]], size=gen.integers(2, 4)))
    if gen.random() < 0.2:  # a stray mention
        words.append(gen.choice(WORDS[NAMES[gen.integers(len(NAMES))]]))
    words += list(gen.choice(NEUTRAL, size=gen.integers(8, 16)))
    gen.shuffle(words)
    target = np.zeros(len(NAMES), dtype=np.float32)
    target[chosen] = 1
    return " ".join(words), target


train_rows = [abstract() for _ in range(2000)]
valid_rows = [abstract() for _ in range(500)]

# %% tokenizer
wp = Tokenizer(WordPiece(unk_token="[UNK]"))
wp.normalizer, wp.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
wp.train_from_iterator([t for t, _ in train_rows], WordPieceTrainer(vocab_size=900, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
wp.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=wp, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
                                    model_input_names=["input_ids", "attention_mask"])


class Abstracts(Dataset):
    def __init__(self, rows):
        self.enc = tokenizer([t for t, _ in rows], truncation=True, max_length=64)
        self.targets = [y for _, y in rows]

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        return {"input_ids": self.enc["input_ids"][i], "attention_mask": self.enc["attention_mask"][i], "labels": self.targets[i]}


train_ds, valid_ds = Abstracts(train_rows), Abstracts(valid_rows)

# %% model and training
model = BertForSequenceClassification(BertConfig(
    vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=64, initializer_range=0.08, num_labels=len(NAMES), problem_type="multi_label_classification", pad_token_id=0))


def compute_metrics(pred):
    probs = 1 / (1 + np.exp(-pred.predictions))
    guess = (probs > 0.5).astype(int)
    truth = pred.label_ids.astype(int)
    return {
        "micro_f1": f1_score(truth, guess, average="micro", zero_division=0),
        "macro_f1": f1_score(truth, guess, average="macro", zero_division=0),
        "mean_ap": average_precision_score(truth, probs, average="macro"),
    }


training_args = TrainingArguments(
    output_dir="out/paper_topics",
    num_train_epochs=4,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=1e-3,
    warmup_steps=20,
    weight_decay=0.01,
    logging_steps=50,
    eval_strategy="epoch",
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
    seed=1,
)
trainer = Trainer(model=model, args=training_args, train_dataset=train_ds, eval_dataset=valid_ds,
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()

# %% results
metrics = trainer.evaluate()
for key in ("eval_loss", "eval_micro_f1", "eval_macro_f1", "eval_mean_ap"):
    print(f"{key:>15}: {metrics[key]:.3f}")
everything = np.ones((len(valid_rows), len(NAMES)), dtype=int)
print("micro F1 of giving every topic:", round(f1_score(np.array([y for _, y in valid_rows]).astype(int), everything, average="micro"), 3))

model.eval()
sample = tokenizer("we study the effect of carbon emission and wage policy on a new method", return_tensors="pt")
with torch.no_grad():
    p = model(**sample).logits.sigmoid()[0]
print({n: round(float(v), 2) for n, v in zip(NAMES, p)})
