import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import nn
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

torch.manual_seed(4)
random.seed(4)
TOPICS = {"driver": "rude polite chatty driver manners friendly reckless".split(),
          "price": "fare expensive overcharged cheap receipt tip".split(),
          "car": "seats dirty smelly clean boot seatbelt".split(),
          "wait": "late waited cancelled early punctual pickup".split()}
FILLER = "the was very really this time again ride my to from airport a bit quite honestly and i".split()


def comment():
    y = random.randrange(len(TOPICS))
    words = random.choices(list(TOPICS.values())[y], k=2) + random.choices(FILLER, k=random.randint(4, 12))
    random.shuffle(words)
    return " ".join(words), y


rows = [comment() for _ in range(1500)]
train, test = rows[:1250], rows[1250:]
vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + FILLER + sum(TOPICS.values(), []))}
core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]",
                                    sep_token="[SEP]", model_input_names=["input_ids", "attention_mask"])


class CommentClassifier(nn.Module):
    def __init__(self, backbone, n_classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.Dropout(0.1), nn.Linear(backbone.config.hidden_size, n_classes))

    def forward(self, input_ids, attention_mask):
        hidden = self.backbone(input_ids, attention_mask=attention_mask).last_hidden_state
        pooled = hidden[:, 0]
        return self.head(pooled)

def collate(batch):
    return tokenizer([t for t, _ in batch], padding=True, return_tensors="pt"), torch.tensor([y for _, y in batch])


backbone = GPT2Model(GPT2Config(vocab_size=len(vocab), n_embd=64, n_layer=2, n_head=4, n_positions=32))
model = CommentClassifier(backbone, len(TOPICS))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
criterion = nn.CrossEntropyLoss()
loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)

for epoch in range(8):
    model.train()
    running = 0.0
    for enc, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(**enc), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        enc, y = collate(test)
        hits = (model(**enc).argmax(-1) == y).float()
    print(f"epoch {epoch + 1}: loss {running / len(loader):.4f}, test accuracy {hits.mean():.3f}")
