# Masked language model from scratch on the premises of our NLI set, later I want to fine-tune it.
import torch
from datasets import concatenate_datasets, load_dataset
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM, Trainer, TrainingArguments, set_seed

set_seed(0)
tok = AutoTokenizer.from_pretrained("assets/distilbert-mini")



def load(config, split):
    ds = load_dataset("assets/nli", config, split=split)
    return ds.map(lambda b: {"input_ids": tok(b["premise"], truncation=True, max_length=48)["input_ids"]},
                  batched=True, remove_columns=ds.column_names)


texts = concatenate_datasets([load("3_labels", "train"), load("2_labels", "train")])
held_out = load("3_labels", "validation_matched")


class MaskingCollator:
    """Pads and hides words: of the chosen ones 90 % become [MASK], the others stay as they are."""

    def __init__(self, tokenizer, share=0.2):
        self.tokenizer = tokenizer
        self.share = share

    def __call__(self, rows):
        batch = self.tokenizer.pad({"input_ids": [r["input_ids"] for r in rows]}, return_tensors="pt")
        labels = batch["input_ids"]
        special = (labels == self.tokenizer.cls_token_id) | (labels == self.tokenizer.sep_token_id)
        special |= labels == self.tokenizer.pad_token_id
        chosen = (torch.rand(labels.shape) < self.share) & ~special
        hidden = chosen & (torch.rand(labels.shape) < 0.9)
        batch["input_ids"][hidden] = self.tokenizer.mask_token_id
        batch["labels"] = labels.masked_fill(~chosen, -100)
        return dict(batch)


model = BertForMaskedLM(BertConfig(
    vocab_size=len(tok),
    hidden_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=192,
    max_position_embeddings=64,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
))
print("parameters:", model.num_parameters())

args = TrainingArguments(
    output_dir="bert-village",
    per_device_train_batch_size=32,
    learning_rate=3e-3,
    num_train_epochs=3,
    warmup_ratio=0.05,
    weight_decay=0.01,
    lr_scheduler_type="linear",
    logging_steps=50,
    save_strategy="no",
    report_to="none",
    remove_unused_columns=False,
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=texts, eval_dataset=held_out, data_collator=MaskingCollator(tok))
trainer.train()
print("loss on held-out premises:", trainer.evaluate()["eval_loss"])

# ask for one word at a time
model.eval()


@torch.no_grad()
def guess(sentence, top=3):
    enc = tok(sentence, return_tensors="pt")
    where = (enc.input_ids[0] == tok.mask_token_id).nonzero().item()
    best = model(**enc).logits[0, where].topk(top).indices
    return tok.convert_ids_to_tokens(best.tolist())


for s in ["The nurse [MASK] in the kitchen.", "The postman is carrying a [MASK].", "The uncle is in [MASK] garden."]:
    print(s, guess(s))

right = total = 0
for row in held_out.select(range(200)):
    ids = torch.tensor(row["input_ids"])
    for position in range(2, len(ids) - 1, 4):
        asked = ids.clone()
        asked[position] = tok.mask_token_id
        with torch.no_grad():
            right += int(model(input_ids=asked[None]).logits[0, position].argmax() == ids[position])
        total += 1
print(f"hidden words found: {right / total:.3f} of {total}")
