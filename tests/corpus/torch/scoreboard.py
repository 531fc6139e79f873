import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import Dataset
from transformers import BertConfig, BertModel, Trainer, TrainerCallback, TrainingArguments, set_seed


class Rows(Dataset):
    """Each digit is a sequence of 8 rows with 8 numbers."""

    def __init__(self, x, y):
        self.x = torch.tensor(x, dtype=torch.float32).view(-1, 8, 8) / 16.0
        self.y = torch.tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return {"rows": self.x[i], "labels": self.y[i]}


class RowReader(nn.Module):
    def __init__(self, width=32, p=0.4):
        super().__init__()
        cfg = BertConfig(vocab_size=2, hidden_size=width, num_hidden_layers=2, num_attention_heads=4,
                         intermediate_size=128, max_position_embeddings=16,
                         hidden_dropout_prob=p, attention_probs_dropout_prob=0.2)
        self.inp = nn.Linear(8, width)
        self.body = BertModel(cfg, add_pooling_layer=False)
        self.head = nn.Sequential(nn.Dropout(0.5), nn.Linear(width, 10))

    def forward(self, rows, labels=None):
        h = self.body(inputs_embeds=self.inp(rows)).last_hidden_state
        logits = self.head(h.mean(1))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return {"loss": loss, "logits": logits}


class Scoreboard(TrainerCallback):
    """Keeps the validation accuracy of every epoch and remembers the best one."""

    def __init__(self, dataset, batch_size=128):
        self.dataset, self.batch_size = dataset, batch_size
        self.history = []

    def score(self, model):
        right = 0
        with torch.no_grad():
            for start in range(0, len(self.dataset), self.batch_size):
                idx = slice(start, start + self.batch_size)
                out = model(rows=self.dataset.x[idx])
                right += (out["logits"].argmax(-1) == self.dataset.y[idx]).sum().item()
        return right / len(self.dataset)

    def on_epoch_end(self, args, state, control, model=None, **kwargs):
        self.history.append(self.score(model))
        print(f"epoch {int(round(state.epoch)):2d}  val accuracy {self.history[-1]:.4f}")


def main():
    set_seed(11)
    x, y = load_digits(return_X_y=True)
    xa, xb, ya, yb = train_test_split(x, y, test_size=0.3, stratify=y, random_state=11)
    train, val = Rows(xa, ya), Rows(xb, yb)
    board = Scoreboard(val)
    args = TrainingArguments("out_rows", num_train_epochs=20, per_device_train_batch_size=32, learning_rate=3e-3,
                             weight_decay=0.01, logging_steps=100, save_strategy="no", report_to=[], use_cpu=True,
                             disable_tqdm=True)
    Trainer(model=RowReader(), args=args, train_dataset=train, callbacks=[board]).train()
    best = max(board.history)
    print(f"best epoch {board.history.index(best) + 1}, validation accuracy {best:.4f}")


if __name__ == "__main__":
    main()
