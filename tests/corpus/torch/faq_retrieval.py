"""Question -> answer retrieval with one shared encoder, in-batch negatives plus a mined hard negative, inside the HF Trainer."""
import logging
import random

import torch
import torch.nn.functional as F
from datasets import Dataset
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import nn
from transformers import (BertConfig, BertModel, PreTrainedTokenizerFast, Trainer, TrainerCallback, TrainingArguments, set_seed)
from transformers.utils import ModelOutput

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("faq")

ACTIONS = {  # how customers say it / how the manual says it
    "cancel": (["cancel", "get rid of", "end"], "terminating"),
    "renew": (["renew", "extend", "prolong"], "renewal of"),
    "move": (["move", "take along", "transfer"], "relocating"),
    "pause": (["pause", "put on hold", "freeze for a while"], "suspension of"),
    "pay": (["pay for", "settle", "be billed for"], "payment of"),
    "share": (["share", "use together", "let my family use"], "joint use of"),
    "upgrade": (["upgrade", "get a bigger version of", "improve"], "enlarging"),
}
OBJECTS = {
    "phone": (["phone plan", "mobile tariff", "sim card"], "cellular contracts"),
    "net": (["internet line", "wifi", "broadband"], "fixed access"),
    "tv": (["tv package", "film channel", "streaming bundle"], "television subscriptions"),
    "insurance": (["device insurance", "phone cover", "damage protection"], "policy documents"),
    "mail": (["mailbox", "e-mail account", "inbox"], "electronic post"),
    "cloud": (["cloud storage", "photo backup", "online disk"], "remote memory"),
    "landline": (["landline", "home telephone", "old phone at home"], "stationary telephony"),
    "router": (["router", "box from you", "modem"], "rented equipment"),
}
FAQ = [(a, o) for a in ACTIONS for o in OBJECTS]
ANSWERS = [f"section {10 + i} : {ACTIONS[a][1]} {OBJECTS[o][1]} , rules and deadlines" for i, (a, o) in enumerate(FAQ)]


def question(rng, k):
    a, o = FAQ[k]
    do, what = rng.choice(ACTIONS[a][0]), rng.choice(OBJECTS[o][0])
    return rng.choice([f"how can i {do} my {what} ?", f"i want to {do} the {what} please", f"is it possible to {do} a {what} ?",
                       f"hello , my {what} , i would like to {do} it"])


def neighbour(rng, k):
    """An answer that shares the action or the object with the right one."""
    a, o = FAQ[k]
    return rng.choice([i for i, (b, p) in enumerate(FAQ) if i != k and (a == b) != (o == p)])


class SharedEncoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.bert = BertModel(config, add_pooling_layer=False)
        self.log_scale = nn.Parameter(torch.tensor(2.3))

    def encode(self, input_ids, attention_mask):
        h = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        m = attention_mask.unsqueeze(-1).to(h.dtype)
        return F.normalize((h * m).sum(1) / m.sum(1), dim=-1)

    def forward(self, question, answer, hard, answer_id, hard_id):
        q, a, n = self.encode(**question), self.encode(**answer), self.encode(**hard)
        scores = self.log_scale.exp().clamp(max=50) * q @ torch.cat([a, n]).T
        # the right answer of one row may turn up again in another row; those columns are no negatives
        columns = torch.cat([answer_id, hard_id])
        same = columns[None, :] == answer_id[:, None]
        same[torch.arange(len(q)), torch.arange(len(q))] = False
        loss = F.cross_entropy(scores.masked_fill(same, -1e4), torch.arange(len(q), device=q.device))
        return ModelOutput(loss=loss, scores=scores)


class Collator:
    def __init__(self, tokenizer, seed):
        self.tokenizer, self.rng = tokenizer, random.Random(seed)

    def __call__(self, rows):
        right = [r["faq"] for r in rows]
        wrong = [neighbour(self.rng, k) for k in right]
        pack = lambda texts: dict(self.tokenizer(texts, padding=True, return_tensors="pt"))
        return {"question": pack([r["question"] for r in rows]), "answer": pack([ANSWERS[k] for k in right]),
                "hard": pack([ANSWERS[k] for k in wrong]), "answer_id": torch.tensor(right), "hard_id": torch.tensor(wrong)}


class Recall(TrainerCallback):
    def __init__(self, tokenizer, held_out):
        self.tokenizer, self.held_out = tokenizer, held_out

    @torch.no_grad()
    def measure(self, model):
        model.eval()
        library = model.encode(**self.tokenizer(ANSWERS, padding=True, return_tensors="pt"))
        queries = model.encode(**self.tokenizer(list(self.held_out["question"]), padding=True, return_tensors="pt"))
        rank = (queries @ library.T).argsort(dim=-1, descending=True)
        gold = torch.tensor(self.held_out["faq"])[:, None]
        return {k: (rank[:, :k] == gold).any(-1).float().mean().item() for k in (1, 5)}

    def on_epoch_end(self, args, state, control, model=None, **kwargs):
        log.info("epoch %.0f  recall@1 %.3f  temperature %.3f", state.epoch, self.measure(model)[1], (-model.log_scale).exp().item())
        model.train()


def main():
    set_seed(9)
    rng = random.Random(9)
    asked = list({question(rng, k): k for k in [rng.randrange(len(FAQ)) for _ in range(9000)]}.items())
    rng.shuffle(asked)
    train, test = (Dataset.from_dict({"question": [q for q, _ in part], "faq": [k for _, k in part]}) for part in (asked[400:], asked[:400]))
    core = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    core.normalizer, core.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    core.train_from_iterator(list(train["question"]) + ANSWERS, trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", model_input_names=["input_ids", "attention_mask"])
    model = SharedEncoder(BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
                                     intermediate_size=128, max_position_embeddings=48, hidden_dropout_prob=0.1, initializer_range=0.08))
    recall = Recall(tokenizer, test)
    args = TrainingArguments("out/faq_retrieval", num_train_epochs=4, per_device_train_batch_size=32, dataloader_drop_last=True,
                             learning_rate=2e-3, warmup_ratio=0.1, lr_scheduler_type="linear", remove_unused_columns=False,
                             logging_steps=100, save_strategy="no", report_to="none", disable_tqdm=True, seed=9)
    log.info("%d training and %d held-out questions, %d answers", len(train), len(test), len(ANSWERS))
    log.info("before training: recall %s", recall.measure(model))
    Trainer(model=model, args=args, train_dataset=train, data_collator=Collator(tokenizer, 0), callbacks=[recall]).train()
    final = recall.measure(model)
    log.info("held-out questions: recall@1 %.3f, recall@5 %.3f (guessing: %.3f)", final[1], final[5], 1 / len(ANSWERS))


if __name__ == "__main__":
    main()
