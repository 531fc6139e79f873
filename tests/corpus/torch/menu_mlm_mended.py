"""Pretrain a very small BERT on kitchen sentences, then fill in blanks."""
import os
os.environ["USE_TF"] = "0"
import random
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (BertConfig, BertForMaskedLM, DataCollatorForLanguageModeling,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(2)
DISH = {"soup": ("cook", "pot", "spoon"), "steak": ("grill", "pan", "knife"), "bread": ("bake", "oven", "hand"),
        "salad": ("toss", "bowl", "fork"), "tea": ("brew", "kettle", "cup"), "rice": ("steam", "cooker", "sticks")}
WHO = ["anna", "ben", "carla", "dan"]


def sentence(rng):
    dish = rng.choice(list(DISH))
    verb, tool, eat = DISH[dish]
    return f"{rng.choice(WHO)} will {verb} the {dish} in the {tool} and serve it with a {eat}"


rng = random.Random(4)
train_text = [sentence(rng) for _ in range(1500)]
eval_text = [sentence(rng) for _ in range(200)]

words = sorted({w for s in train_text for w in s.split()})
vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + words)}
backend = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tok = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                              sep_token="[SEP]", mask_token="[MASK]")


def encode(texts):
    return [{"input_ids": tok(t)["input_ids"]} for t in texts]


model = BertForMaskedLM(BertConfig(vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                   intermediate_size=64, max_position_embeddings=32))
collator = DataCollatorForLanguageModeling(tok, mlm=True, mlm_probability=0.2)
args = TrainingArguments("menu_mlm", num_train_epochs=5, learning_rate=3e-3, per_device_train_batch_size=32,
                         per_device_eval_batch_size=100, eval_strategy="epoch", save_strategy="no", logging_steps=47,
                         lr_scheduler_type="constant", report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model=model, args=args, data_collator=collator,
                  train_dataset=encode(train_text), eval_dataset=encode(eval_text))
trainer.train()
print("eval loss", trainer.evaluate()["eval_loss"])

# fill in the dish from its surroundings
model.eval()
hits = 0
for text in eval_text:
    dish = text.split()[4]
    blank = tok(text.replace(f" {dish} ", " [MASK] "), return_tensors="pt")
    spot = (blank["input_ids"][0] == tok.mask_token_id).nonzero().item()
    with torch.no_grad():
        logits = model(input_ids=blank["input_ids"], attention_mask=blank["attention_mask"]).logits
    hits += int(logits[0, spot].argmax().item() == vocab[dish])
print(f"blanks filled in right: {hits / len(eval_text):.3f}")
