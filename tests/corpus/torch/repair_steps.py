import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertForMultipleChoice, PreTrainedTokenizerFast

torch.manual_seed(0)
random.seed(0)

FAULTS = {
    "will not heat": "replace the heating element", "leaks from the door": "fit a new door seal",
    "trips the fuse": "test the mains cable", "drum does not turn": "put on a fresh belt",
    "smells of burning": "clean out the motor brushes", "display stays dark": "reseat the ribbon connector",
    "does not drain": "unblock the pump filter", "makes a grinding noise": "grease the bearing",
    "stops after a minute": "swap the thermostat", "fills without end": "renew the inlet valve",
}
DEVICES = ["washer", "dryer", "dishwasher", "oven", "kettle", "mixer"]


def sample():
    device, fault = random.choice(DEVICES), random.choice(list(FAULTS))
    wrong = random.sample([s for f, s in FAULTS.items() if f != fault], 2)
    options = wrong + [FAULTS[fault]]
    random.shuffle(options)
    return f"the {device} {fault}", options, options.index(FAULTS[fault])


rows = [sample() for _ in range(1500)]
train, test = rows[:1200], rows[1200:]

words = sorted({w for q, opts, _ in rows for t in [q, *opts] for w in t.split()})
vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words)}
core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]",
                                    cls_token="[CLS]", sep_token="[SEP]")


def collate(batch):
    first = [q for q, opts, _ in batch for _ in opts]
    second = [o for _, opts, _ in batch for o in opts]
    enc = tokenizer(first, second, padding=True, return_tensors="pt")
    enc = {k: v.view(len(batch), 3, -1) for k, v in enc.items()}
    enc["labels"] = torch.tensor([y for _, _, y in batch])
    return enc


model = DistilBertForMultipleChoice(DistilBertConfig(vocab_size=len(vocab), dim=64, n_layers=2, n_heads=4,
                                                     hidden_dim=128, max_position_embeddings=32))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)

for epoch in range(8):
    model.train()
    total = 0.0
    for batch in loader:
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        hits = sum((model(**b).logits.argmax(-1) == b["labels"]).sum().item()
                   for b in DataLoader(test, batch_size=64, collate_fn=collate))
    print(f"epoch {epoch} loss {total / len(loader):.3f} test accuracy {hits / len(test):.3f}")
