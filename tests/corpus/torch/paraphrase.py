import random

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import nn
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed

set_seed(3)
SYNONYMS = [("car", "automobile"), ("big", "large"), ("buy", "purchase"), ("quick", "fast"), ("house", "home"),
            ("begin", "start"), ("happy", "glad"), ("shop", "store"), ("boat", "ship"), ("road", "street"),
            ("kid", "child"), ("smart", "clever"), ("end", "finish"), ("photo", "picture"), ("sofa", "couch"),
            ("rock", "stone"), ("gift", "present"), ("film", "movie"), ("hat", "cap"), ("sick", "ill")]
GLUE = ["the", "a", "of", "with", "near", "and", "this"]


def render(concepts, rng, side):
    order = list(concepts)
    rng.shuffle(order)
    words = []
    for c in order:
        words += [SYNONYMS[c][side], rng.choice(GLUE)]
    return " ".join(words)


class Paraphrases(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.pairs = []
        for _ in range(n):
            concepts = rng.sample(range(len(SYNONYMS)), rng.randint(3, 5))
            self.pairs.append((render(concepts, rng, 0), render(concepts, rng, 1)))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]


words = ["[PAD]", "[UNK]"] + GLUE + [w for pair in SYNONYMS for w in pair]
core = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]")


def collate(pairs):
    left, right = zip(*pairs)
    return {"left": tokenizer(list(left), padding=True, return_tensors="pt", return_token_type_ids=False),
            "right": tokenizer(list(right), padding=True, return_tensors="pt", return_token_type_ids=False)}


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = BertModel(BertConfig(vocab_size=len(words), hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
                                         intermediate_size=128, max_position_embeddings=16, hidden_dropout_prob=0.05),
                              add_pooling_layer=False)
        self.scale = nn.Parameter(torch.tensor(2.5))

    def embed(self, enc):
        h = self.bert(**enc).last_hidden_state
        m = enc["attention_mask"].unsqueeze(-1).float()
        return F.normalize((h * m).sum(1) / m.sum(1), dim=-1)

    def forward(self, left, right):
        return self.scale.exp() * self.embed(left) @ self.embed(right).T


class PairTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        scores = model(inputs["left"], inputs["right"])
        target = torch.arange(len(scores), device=scores.device)
        loss = (F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target)) / 2
        return (loss, {"scores": scores}) if return_outputs else loss


args = TrainingArguments("paraphrase_out", per_device_train_batch_size=64, num_train_epochs=12, learning_rate=2e-3,
                         logging_steps=25, save_strategy="no", remove_unused_columns=False, report_to="none",
                         dataloader_drop_last=True, weight_decay=0.01)
model = Encoder()
trainer = PairTrainer(model=model, args=args, train_dataset=Paraphrases(1600, 1), data_collator=collate)
trainer.train()

model.eval()
with torch.no_grad():
    held_out = Paraphrases(200, 2)
    scores = model(**collate([held_out[i] for i in range(200)]))
found = (scores.argmax(1) == torch.arange(200)).float().mean().item()
print(f"retrieved the right partner among 200: {found:.3f}")
