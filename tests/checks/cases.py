# ruff: noqa: E501 - the scripts are written as people write them
"""Tiny scripts that raise, each with the code of the check that is to name it (or of another check, which none of these may claim)."""

from __future__ import annotations

from dataclasses import dataclass

TORCH = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, Dataset
torch.manual_seed(0)
class Rows(Dataset):
    def __init__(self, rows): self.rows = rows
    def __len__(self): return len(self.rows)
    def __getitem__(self, index): return self.rows[index]
class Net(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)
    def forward(self, x):
        return self.layers(x)
"""
HF = """
import torch, tempfile
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (AutoConfig, AutoModel, AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification, BertModel,
    DataCollatorWithPadding, DefaultDataCollator, DistilBertConfig, DistilBertForSequenceClassification, GPT2Config, GPT2LMHeadModel,
    PreTrainedTokenizerFast, RobertaConfig, RobertaForSequenceClassification, T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments)
words = "[PAD] [UNK] [CLS] [SEP] a good bad film very".split()
core = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
core.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, model_input_names=["input_ids", "attention_mask"], pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")
raw = Dataset.from_dict({"text": ["a good film", "a very bad film", "good", "very very bad"] * 4, "label": [1, 0, 1, 0] * 4})
ready = raw.map(lambda rows: tokenizer(rows["text"]), batched=True)
config = DistilBertConfig(vocab_size=9, dim=8, n_heads=2, n_layers=1, hidden_dim=8, max_position_embeddings=16)
model = DistilBertForSequenceClassification(config)
bert_config = BertConfig(vocab_size=9, hidden_size=8, num_attention_heads=2, num_hidden_layers=1, intermediate_size=8, max_position_embeddings=16)
args = TrainingArguments(output_dir=tempfile.mkdtemp(), report_to="none", use_cpu=True, max_steps=2, per_device_train_batch_size=4,
    save_strategy="no", disable_tqdm=True)
"""
EVALUATE = "import datasets, evaluate\nfrom datasets import load_dataset\nfrom transformers import AutoModel, AutoTokenizer, AutoModelForSequenceClassification"
_KERAS = """
import numpy as np
import tensorflow as tf
layers = keras.layers
x = np.random.rand(32, 8).astype("float32")
y = np.random.randint(0, 3, 32)
model = keras.Sequential([keras.Input((8,)), layers.Dense(4), layers.Dense(3)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
"""
TF_KERAS = "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nimport tf_keras as keras" + _KERAS
KERAS = "import keras" + _KERAS
TF_HF = "import os\nos.environ['TF_USE_LEGACY_KERAS'] = '1'\nimport tensorflow as tf\n" + HF + """
from transformers import TFDistilBertForSequenceClassification, TFRobertaForSequenceClassification, TFBertForSequenceClassification
model = TFDistilBertForSequenceClassification(config)
model.compile(optimizer=tf.keras.optimizers.Adam(1e-4))
"""
GROUPS = {"torch": TORCH, "hf": HF, "load": EVALUATE, "keras": KERAS, "tf_keras": TF_KERAS, "tf_hf": TF_HF}


@dataclass(frozen=True)
class Case:
    """One script: the prelude of its group, then `code`. `expected` is the code of the check that explains it."""

    group: str
    name: str
    expected: str
    code: str


CASES: list[Case] = []


def _add(group: str, text: str) -> None:
    """Cases from text: a line `## CODE name`, then the script."""
    for part in text.split("## ")[1:]:
        head, _, code = part.partition("\n")
        expected, name = head.split()
        CASES.append(Case(group, name, expected, code))


_add("torch", """
## B101 default_collate_tensors
batch = next(iter(DataLoader(Rows([torch.ones(3), torch.ones(4)]), batch_size=2)))
## B101 default_collate_lists
batch = next(iter(DataLoader(Rows([{"ids": [1, 2, 3]}, {"ids": [1, 2]}]), batch_size=2)))
## B101 default_collate_images
batch = next(iter(DataLoader(Rows([(torch.ones(3, 8, 8), 0), (torch.ones(3, 8, 6), 1)]), batch_size=2)))
## B101 default_collate_arrays
import numpy as np
batch = next(iter(DataLoader(Rows([np.ones(3), np.ones(4)]), batch_size=2)))
## B101 own_collator
def collate(rows):
    return torch.tensor([row for row in rows])
batch = next(iter(DataLoader(Rows([[1, 2, 3], [1, 2]]), batch_size=2, collate_fn=collate)))
## B101 own_collator_stack
def collate(rows):
    return torch.stack(rows)
batch = next(iter(DataLoader(Rows([torch.ones(3), torch.ones(2)]), batch_size=2, collate_fn=collate)))
## B101 own_collator_cat
def collate(rows):
    return torch.cat([row[None] for row in rows])
batch = next(iter(DataLoader(Rows([torch.ones(3), torch.ones(2)]), batch_size=2, collate_fn=collate)))
## B101 tensor_of_all_rows
ids = [[1, 2, 3], [1, 2]]
x = torch.tensor(ids)
## B101 array_of_all_rows
import numpy as np
x = torch.from_numpy(np.array([[1, 2, 3], [1, 2]]))
## B101 in_a_worker
for batch in DataLoader(Rows([torch.ones(3), torch.ones(4)]), batch_size=2, num_workers=1):
    pass
## B103 embedding_list
nn.Embedding(5, 2)([[1, 2], [3, 4]])
## B103 linear_list
Net(nn.Linear(2, 2))([[1.0, 2.0]])
## B103 linear_array
import numpy as np
Net(nn.Linear(2, 2))(np.ones((1, 2)))
## B103 conv_array
import numpy as np
Net(nn.Conv2d(3, 2, 3))(np.ones((1, 3, 8, 8)))
## B103 rnn_list
Net(nn.LSTM(2, 2))([[1.0, 2.0]])
## B103 list_to_device
for batch in DataLoader(Rows([{"ids": [1, 2, 3]}, {"ids": [1, 2, 4]}]), batch_size=2):
    ids = batch["ids"].to("cpu")
## B103 list_size
for batch in DataLoader(Rows([{"ids": [1, 2, 3]}, {"ids": [1, 2, 4]}]), batch_size=2):
    class Pool(nn.Module):
        def forward(self, ids):
            return ids.size(0)
    Pool()(batch["ids"])
## B103 collate_none
next(iter(DataLoader(Rows([None, None]), batch_size=2)))
## B103 target_list
nn.CrossEntropyLoss()(torch.ones(2, 3), [0, 1])
## B103 tuple_of_strings
for batch in DataLoader(Rows([("a", 1), ("b", 2)]), batch_size=2):
    Net(nn.Linear(2, 2))(batch[0])
## B103 strings_to_device
for text, label in DataLoader(Rows([("a", 1), ("b", 2)]), batch_size=2):
    text = text.to("cpu")
## F101 own_positions_added
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(10, 4)
        self.positions = nn.Parameter(torch.zeros(1, 16, 4))
    def forward(self, ids):
        return self.tokens(ids) + self.positions
Encoder()(torch.ones(2, 20, dtype=torch.long))
## F101 own_positions_embedded
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(10, 4)
        self.position_embedding = nn.Embedding(16, 4)
    def forward(self, ids):
        return self.tokens(ids) + self.position_embedding(torch.arange(ids.shape[1]))
Encoder()(torch.ones(2, 20, dtype=torch.long))
## F102 own_embedding
Net(nn.Embedding(10, 4))(torch.full((2, 3), 10))
## F102 negative_id
Net(nn.Embedding(10, 4))(torch.full((2, 3), -1))
## F102 embedding_bag
Net(nn.EmbeddingBag(10, 4))(torch.full((2, 3), 12))
## F103 linear_features
Net(nn.Linear(10, 4))(torch.ones(2, 8))
## F103 flatten_features
Net(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(100, 10))(torch.ones(2, 1, 8, 8))
## F103 channels
Net(nn.Conv2d(3, 4, 3))(torch.ones(2, 1, 8, 8))
## F103 channels_last
Net(nn.Conv2d(3, 4, 3))(torch.ones(2, 8, 8, 3))
## F103 missing_channel_axis
Net(nn.Conv2d(1, 4, 3))(torch.ones(5, 16, 28, 28))
## F103 dimensions
Net(nn.Conv2d(1, 4, 3))(torch.ones(4))
## F103 double_input
import numpy as np
Net(nn.Linear(2, 2))(torch.from_numpy(np.ones((1, 2))))
## F103 double_image
Net(nn.Conv2d(1, 2, 3))(torch.ones(1, 1, 8, 8).double())
## F103 byte_image
Net(nn.Conv2d(1, 2, 3))(torch.ones(1, 1, 8, 8).byte())
## F103 integer_features
Net(nn.Linear(2, 2))(torch.ones(1, 2, dtype=torch.long))
## F103 float_ids
Net(nn.Embedding(5, 2))(torch.ones(1, 2))
## F103 state_of_another_batch
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 8, batch_first=True)
    def forward(self, x):
        return self.rnn(x, torch.zeros(1, 16, 8))[0]
Reader()(torch.ones(3, 5, 4))
## F103 states_of_another_batch
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 8, batch_first=True)
        self.state = torch.zeros(1, 16, 8), torch.zeros(1, 16, 8)
    def forward(self, x):
        return self.rnn(x, self.state)[0]
Reader()(torch.ones(3, 5, 4))
## F103 lstm_features
Net(nn.LSTM(10, 4))(torch.ones(2, 3, 8))
## F103 batch_norm_features
Net(nn.BatchNorm1d(10))(torch.ones(4, 8))
## F103 batch_norm_single_row
Net(nn.BatchNorm1d(10))(torch.ones(1, 10))
## F103 layer_norm_features
Net(nn.LayerNorm(10))(torch.ones(4, 8))
## F103 view
class Flat(nn.Module):
    def forward(self, x):
        return x.view(-1, 400)
Flat()(torch.ones(2, 3, 5))
## F103 view_strides
class Flat(nn.Module):
    def forward(self, x):
        return x.transpose(1, 2).view(2, -1)
Flat()(torch.ones(2, 3, 5))
## F103 residual
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 6)
    def forward(self, x):
        return x + self.inner(x)
Block()(torch.ones(2, 4))
## F103 concatenate
class Join(nn.Module):
    def forward(self, a, b):
        return torch.cat([a, b], dim=1)
Join()(torch.ones(2, 4), torch.ones(3, 4))
## F103 attention_width
Net(nn.TransformerEncoderLayer(8, 2))(torch.ones(2, 3, 6))
## F103 bmm
class Scores(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)
Scores()(torch.ones(2, 3, 4), torch.ones(2, 3, 4))
## F103 device
Net(nn.Linear(2, 2)).to("meta")(torch.ones(1, 2))
## A799 forward_name
class Wrong(nn.Module):
    def forward(self, x):
        return self.head(x)
Wrong()(torch.ones(2, 2))
## A799 forward_arguments
Net(nn.Linear(2, 2))(torch.ones(1, 2), torch.ones(1, 2))
## A799 key_error
config = {"lr": 0.1}
rate = config["rate"]
## A799 missing_package
import a_package_that_is_not_there
## A799 missing_file
open("/nowhere/data.csv")
## A799 own_function
def make(width):
    return nn.Linear(width, 2)
make(width=2, height=3)
## A799 not_implemented
class Wrong(nn.Module):
    def foward(self, x):
        return x
Wrong()(torch.ones(1))
## A701 optimizer_learning_rate
torch.optim.Adam(nn.Linear(2, 2).parameters(), learning_rate=0.1)
## A701 scheduler_verbose
optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)
torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, verbose=True)
## A701 loss_weights
nn.CrossEntropyLoss(weights=torch.ones(3))
## A701 loader_typo
DataLoader(Rows([1, 2]), batchsize=2)
## A701 conv_typo
nn.Conv2d(1, 2, kernal_size=3)
## A701 dropout_rate
nn.Dropout(rate=0.1)
## A701 numpy_bool
import numpy as np
np.zeros(3, dtype=np.bool)
np.zeros(3, dtype=np.float)
## A702 weights_only
import os, tempfile
path = os.path.join(tempfile.mkdtemp(), "model.pt")
torch.save(nn.Linear(2, 2), path)
torch.load(path)
## L201 target_out_of_range
nn.CrossEntropyLoss()(torch.ones(2, 2), torch.tensor([0, 2]))
## L202 float_target
nn.CrossEntropyLoss()(torch.ones(2, 2), torch.tensor([0.0, 1.0]))
## L202 integer_bce
nn.BCEWithLogitsLoss()(torch.ones(2), torch.tensor([0, 1]))
## L202 integer_mse
nn.MSELoss()(torch.ones(2).long(), torch.tensor([0, 1]))
## L203 bce_shape
nn.BCEWithLogitsLoss()(torch.ones(2, 1), torch.tensor([0.0, 1.0]))
## L203 batch_sizes
nn.CrossEntropyLoss()(torch.ones(2, 3), torch.tensor([0, 1, 1]))
## L206 bce_of_logits
nn.BCELoss()(torch.ones(2) * 3, torch.tensor([0.0, 1.0]))
## G302 no_grad_path
nn.Linear(2, 2)(torch.ones(1, 2)).detach().sum().backward()
## G308 second_backward
loss = nn.Linear(2, 2)(torch.ones(1, 2)).pow(2).sum()
loss.backward()
loss.backward()
## G303 empty_optimizer
torch.optim.SGD(nn.ReLU().parameters(), lr=0.1)
## R601 out_of_memory
torch.empty(2**60)
## G309 in_place
w = torch.ones(2, requires_grad=True)
w += 1
## A799 backward_shape
nn.Linear(2, 2)(torch.ones(1, 2)).backward()
""")

_add("hf", """
## D101 raw_default_collator
Trainer(model, args, train_dataset=raw).train()
## D101 raw_padding_collator
Trainer(model, args, train_dataset=raw, data_collator=DataCollatorWithPadding(tokenizer)).train()
## D101 raw_processing_class
Trainer(model, args, train_dataset=raw, processing_class=tokenizer).train()
## D101 raw_no_label
Trainer(model, args, train_dataset=raw.remove_columns("label")).train()
## D101 raw_bert
Trainer(BertForSequenceClassification(bert_config), args, train_dataset=raw).train()
## D101 raw_roberta
Trainer(RobertaForSequenceClassification(RobertaConfig(vocab_size=9, hidden_size=8, num_attention_heads=2, num_hidden_layers=1, intermediate_size=8)), args, train_dataset=raw).train()
## D101 raw_gpt2
Trainer(GPT2LMHeadModel(GPT2Config(vocab_size=9, n_embd=8, n_head=2, n_layer=1)), args, train_dataset=raw).train()
## D101 raw_t5
Trainer(T5ForConditionalGeneration(T5Config(vocab_size=9, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)), args, train_dataset=raw).train()
## D101 raw_image_model
from transformers import ViTConfig, ViTForImageClassification
vit = ViTForImageClassification(ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, image_size=8, patch_size=4))
Trainer(vit, args, train_dataset=raw).train()
## D101 loop_without_ids
model(labels=torch.tensor([0, 1]))
## D101 raw_evaluation
Trainer(model, args, eval_dataset=raw, data_collator=DataCollatorWithPadding(tokenizer)).evaluate()
## D101 own_model_required
class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = model
    def forward(self, input_ids, attention_mask=None, labels=None):
        return self.inner(input_ids, attention_mask, labels=labels)
Trainer(Own(), args, train_dataset=raw).train()
## D101 column_not_taken
batch = tokenizer(["a good film"], return_tensors="pt")
BertForSequenceClassification(bert_config)(**batch, idx=torch.tensor([0]))
## D101 token_types_not_taken
bert_batch = {"input_ids": torch.tensor([[2, 5, 3]]), "token_type_ids": torch.tensor([[0, 0, 0]])}
model(**bert_batch)
## D102 other_name
Trainer(model, args, train_dataset=ready.rename_column("label", "sentiment"), processing_class=tokenizer).train()
## D102 other_name_default_collator
Trainer(model, args, train_dataset=ready.select([0, 0, 0, 0]).rename_column("label", "target")).train()
## D102 no_head
Trainer(BertModel(bert_config), args, train_dataset=ready, processing_class=tokenizer).train()
## D102 loop_label_argument
batch = tokenizer(["a good film"], return_tensors="pt")
model(**batch, label=torch.tensor([0]))
## D102 loop_no_loss
batch = tokenizer(["a good film"], return_tensors="pt")
batch["target"] = torch.tensor([0])
outputs = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])
outputs.loss.backward()
## D102 loop_no_loss_divided
batch = tokenizer(["a good film"], return_tensors="pt")
outputs = model(**batch)
loss = outputs.loss / 4
## D102 loop_key
loader = torch.utils.data.DataLoader(ready.remove_columns("text"), batch_size=4, collate_fn=DataCollatorWithPadding(tokenizer))
for batch in loader:
    labels = batch["label"]
## D102 loop_key_dataset
labels = ready["labels"]
## D102 t5_without_labels
t5 = T5ForConditionalGeneration(T5Config(vocab_size=9, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2))
t5(input_ids=torch.tensor([[2, 3]]))
## D102 rename_missing
ready.rename_column("labels", "label")
## D102 best_model_eval_loss
best = TrainingArguments(output_dir=tempfile.mkdtemp(), report_to="none", use_cpu=True, max_steps=2, per_device_train_batch_size=4,
    eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1, load_best_model_at_end=True, disable_tqdm=True)
Trainer(model, best, train_dataset=ready, eval_dataset=ready.rename_column("label", "sentiment"), processing_class=tokenizer).train()
## B101 default_collator
Trainer(model, args, train_dataset=ready).train()
## B101 default_data_collator_object
Trainer(model, args, train_dataset=ready, data_collator=DefaultDataCollator()).train()
## B101 tokenizer_tensors
tokenizer(["a good film", "bad"], return_tensors="pt")
## B101 labels_not_padded
rows = Dataset.from_dict({"input_ids": [[2, 5, 3], [2, 3]], "labels": [[0, 1, 0], [0, 1]]})
Trainer(model, args, train_dataset=rows, processing_class=tokenizer).train()
## B101 torch_format_loader
loader = torch.utils.data.DataLoader(ready.remove_columns("text").with_format("torch"), batch_size=4)
next(iter(loader))
## B101 list_loader
loader = torch.utils.data.DataLoader(ready.remove_columns("text"), batch_size=4)
next(iter(loader))
## B101 pad_method
tokenizer.pad([{"input_ids": [1, 2], "labels": [1, 2]}, {"input_ids": [1], "labels": [1]}], return_tensors="pt")
## B103 text_column_left
loader = torch.utils.data.DataLoader(ready, batch_size=4, collate_fn=DataCollatorWithPadding(tokenizer))
next(iter(loader))
## B103 text_column_kept
keep = TrainingArguments(output_dir=tempfile.mkdtemp(), report_to="none", use_cpu=True, remove_unused_columns=False)
Trainer(model, keep, train_dataset=ready, processing_class=tokenizer).train()
## B103 lists_into_model
model(**tokenizer(["a good film"]))
## B103 lists_into_bert
BertForSequenceClassification(bert_config)(**tokenizer(["a good film"]))
## B103 lists_into_gpt2
GPT2LMHeadModel(GPT2Config(vocab_size=9, n_embd=8, n_head=2, n_layer=1))(**tokenizer(["a good film"]))
## B103 one_row_of_dataset
loader = torch.utils.data.DataLoader(ready.select([0, 0, 0]).remove_columns("text"), batch_size=2)
for batch in loader:
    batch = {name: value.to("cpu") for name, value in batch.items()}
## B103 text_into_model
model(["a good film"])
## B103 numpy_into_model
model(**tokenizer(["a good film"], return_tensors="np"))
## B103 string_label
named = raw.map(lambda rows: {**tokenizer(rows["text"], padding="max_length", max_length=8), "label": ["good" for _ in rows["text"]]}, batched=True)
Trainer(model, args, train_dataset=named).train()
## F101 distilbert_long
model(input_ids=torch.ones(2, 20, dtype=torch.long))
## F101 bert_long
BertForSequenceClassification(bert_config)(input_ids=torch.ones(2, 20, dtype=torch.long))
## F101 roberta_long
small = RobertaConfig(vocab_size=9, hidden_size=8, num_attention_heads=2, num_hidden_layers=1, intermediate_size=8, max_position_embeddings=16, pad_token_id=1)
RobertaForSequenceClassification(small)(input_ids=torch.full((2, 20), 5))
## F101 gpt2_long
GPT2LMHeadModel(GPT2Config(vocab_size=9, n_embd=8, n_head=2, n_layer=1, n_positions=16))(input_ids=torch.ones(2, 20, dtype=torch.long))
## B101 trainer_long
long = raw.map(lambda rows: tokenizer([text * 20 for text in rows["text"]], padding="max_length", max_length=24), batched=True)
Trainer(model, args, train_dataset=long).train()
## F102 distilbert_vocabulary
model(input_ids=torch.full((2, 4), 9))
## F102 bert_vocabulary
BertForSequenceClassification(bert_config)(input_ids=torch.full((2, 4), 9))
## F102 gpt2_vocabulary
GPT2LMHeadModel(GPT2Config(vocab_size=9, n_embd=8, n_head=2, n_layer=1))(input_ids=torch.full((2, 4), 12))
## F102 token_types
BertForSequenceClassification(bert_config)(input_ids=torch.full((2, 4), 2), token_type_ids=torch.full((2, 4), 2))
## F103 image_size
from transformers import ViTConfig, ViTForImageClassification
vit = ViTForImageClassification(ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, image_size=8, patch_size=4))
vit(pixel_values=torch.ones(2, 3, 16, 16))
## F103 hidden_width
model.classifier = torch.nn.Linear(16, 2)
model(**tokenizer(["a good film"], return_tensors="pt"))
## F103 one_dimension
model(input_ids=torch.tensor([2, 5, 3]))
## L201 label_outside
model(input_ids=torch.full((2, 4), 2), labels=torch.tensor([0, 2]))
## A701 evaluation_strategy
TrainingArguments(output_dir="x", evaluation_strategy="epoch")
## A701 batch_size
TrainingArguments(output_dir="x", batch_size=4)
## A701 epochs
TrainingArguments(output_dir="x", epochs=4)
## A701 typo
TrainingArguments(output_dir="x", learning_rte=1e-3)
## A701 tokenizer_argument
Trainer(model, args, train_dataset=ready, tokenizer=tokenizer)
## A701 trainer_typo
Trainer(model, args, train_dataset=ready, eval_data=ready)
## A701 trainer_loss
Trainer(model, args, train_dataset=ready, metrics=None)
## A701 adamw_import
from transformers import AdamW
## A701 no_cuda
TrainingArguments(output_dir="x", no_cuda=True)
## A701 tf_class_import
from transformers import TFAutoModelForSequenceClassification as auto
auto.from_config(config)
## A701 collator_argument
DataCollatorWithPadding(tokenizer, pad_to_multiple=8)
## A701 from_pretrained_folder
import os, tempfile
folder = tempfile.mkdtemp()
model.save_pretrained(folder)
DistilBertForSequenceClassification.from_pretrained(folder, num_classes=3)
## A701 compute_loss_signature
class Own(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        return model(**inputs).loss
Own(model, args, train_dataset=ready, processing_class=tokenizer).train()
## A702 folder_without_config
import tempfile
AutoModelForSequenceClassification.from_pretrained(tempfile.mkdtemp())
## A702 folder_without_weights
import tempfile
folder = tempfile.mkdtemp()
config.save_pretrained(folder)
AutoModelForSequenceClassification.from_pretrained(folder)
## E501 logits_into_evaluate
import evaluate
evaluate.load("assets/accuracy").compute(predictions=[[0.1, 0.2, 0.3]], references=[1])
## A799 own_compute_metrics
def compute_metrics(pair):
    logits, labels = pair
    return {"accuracy": (logits.argmax(-1) == labels).average()}
Trainer(model, args, eval_dataset=ready, processing_class=tokenizer, compute_metrics=compute_metrics).evaluate()
## A799 trainer_without_data
Trainer(model, args).train()
## A799 eval_strategy_without_data
both = TrainingArguments(output_dir=tempfile.mkdtemp(), report_to="none", use_cpu=True, eval_strategy="epoch")
Trainer(model, both, train_dataset=ready, processing_class=tokenizer).train()
""")

_add("load", """
## A702 load_metric_import
from datasets import load_metric
## A702 load_metric_attribute
metric = datasets.load_metric("accuracy")
## A702 load_metric_name
metric = load_metric("accuracy")
## A702 evaluate_dataset
dataset = evaluate.load("imdb")
## A702 evaluate_dataset_map
metric = evaluate.load("assets/accuracy")
tokenized = metric.map(lambda rows: rows)
## A702 evaluate_dataset_index
metric = evaluate.load("assets/accuracy")
train = metric["train"]
## A702 dataset_metric
load_dataset("accuracy")
## A702 dataset_typo
load_dataset("imbd")
## A702 dataset_script
import os, tempfile
path = os.path.join(tempfile.mkdtemp(), "old.py")
open(path, "w").write("class Old: pass")
load_dataset(path)
## A702 dataset_local_typo
load_dataset("assets/nil")
## A702 dataset_config
load_dataset("assets/nli", "7_labels")
## A702 dataset_split
load_dataset("assets/nli", "3_labels", split="test")
## A702 model_typo
AutoModelForSequenceClassification.from_pretrained("distillbert-base-uncased")
## A702 tokenizer_typo
AutoTokenizer.from_pretrained("bert-base-uncase")
## A702 model_local_typo
AutoModel.from_pretrained("./checkpoints/final")
## A702 model_absolute
AutoModel.from_pretrained("/tmp/nowhere/final")
## A702 csv_missing
load_dataset("csv", data_files="nowhere.csv")
## A701 dataset_token
load_dataset("assets/nli", "3_labels", use_auth_token=True)
## A701 dataset_verifications
load_dataset("assets/nli", "3_labels", ignore_verifications=True)
""")

_keras_cases = """
## B101 ragged_array
model.fit(np.array([[1, 2, 3], [1, 2]]), np.array([0, 1]))
## B101 ragged_tensor
tf.constant([[1, 2, 3], [1, 2]])
## B101 ragged_batch
data = tf.data.Dataset.from_generator(lambda: iter([[1, 2, 3], [1, 2]]), output_signature=tf.TensorSpec([None], tf.int32)).batch(2)
for batch in data:
    pass
## B101 ragged_batch_fit
data = tf.data.Dataset.from_generator(lambda: iter([([1.0, 2, 3], 0), ([1.0, 2], 1)]), output_signature=(tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32))).batch(2)
net = keras.Sequential([keras.Input((None,)), layers.Reshape((-1, 1)), layers.GlobalAveragePooling1D(), layers.Dense(2)])
net.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
net.fit(data, verbose=0)
## B101 ragged_slices
tf.data.Dataset.from_tensor_slices([[1, 2, 3], [1, 2]])
## B101 object_array
model.compile("sgd", loss)
model.fit(np.array([[1, 2, 3], [1, 2]], dtype=object), np.array([0, 1]), verbose=0)
## B103 list_of_lists
model.compile("sgd", loss)
model.fit([[0.0] * 8] * 4, [0, 1, 2, 0], verbose=0)
## B103 list_labels
model.compile("sgd", loss)
model.fit(x, y.tolist(), verbose=0)
## B103 text_without_vectorizer
model.compile("sgd", loss)
model.fit(np.array(["a", "b"], dtype=object), np.array([0, 1]), verbose=0)
## F102 embedding
net = keras.Sequential([keras.Input((5,)), layers.Embedding(10, 4), layers.Flatten(), layers.Dense(3)])
net.compile("sgd", loss)
net.fit(np.full((32, 5), 10), y, verbose=0)
## F102 embedding_eager
layers.Embedding(10, 4)(np.full((2, 3), 12))
## F103 features
model.compile("sgd", loss)
model.fit(np.ones((32, 9), "float32"), y, verbose=0)
## F103 rank
net = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(2, 3), layers.Flatten(), layers.Dense(3)])
net.compile("sgd", loss)
net.fit(np.ones((32, 8, 7), "float32"), y, verbose=0)
## F103 build_rank
net = keras.Sequential([keras.Input((8, 8)), layers.Conv2D(2, 3)])
## F103 build_negative
net = keras.Sequential([keras.Input((4, 4, 1)), layers.Conv2D(2, 7)])
## F103 inside_call
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.a = layers.Dense(4)
        self.b = layers.Dense(6)
    def call(self, x):
        return self.a(x) + self.b(x)
net = Net()
net.compile("sgd", loss)
net.fit(x, y, verbose=0)
## F103 concatenate
layers.Concatenate(axis=0)([tf.ones((2, 3)), tf.ones((2, 4))])
## F103 matmul
class Net(keras.Model):
    def call(self, x):
        return tf.matmul(x, x)
net = Net()
net.compile("sgd", loss)
net.fit(x, y, verbose=0)
## F103 reshape
net = keras.Sequential([layers.Reshape((5, 2)), layers.Flatten(), layers.Dense(3)])
net.compile("sgd", loss)
net.fit(x, y, verbose=0)
## A701 optimizer_lr
keras.optimizers.Adam(lr=1e-3)
## A701 optimizer_decay
keras.optimizers.SGD(learning_rate=0.1, decay=1e-6)
## A701 fit_nb_epoch
model.compile("sgd", loss)
model.fit(x, y, nb_epoch=1)
## A701 fit_workers
model.compile("sgd", loss)
model.fit(x, y, verbose=0, use_multiprocessing=True)
## A701 dense_output_dim
layers.Dense(output_dim=3)
## A701 dense_typo
layers.Dense(3, activaton="relu")
## A701 dropout_p
layers.Dropout(p=0.1)
## A701 fit_generator
model.fit_generator(iter([]))
## A701 predict_classes
model.predict_classes(x)
## A701 compile_optimiser
model.compile(optimiser="sgd", loss=loss)
## A799 not_compiled
model.fit(x, y, verbose=0)
## A799 cardinality
model.compile("sgd", loss)
model.fit(x, y[:10], verbose=0)
## A799 unknown_loss
model.compile("sgd", "cross_entropy_loss")
model.fit(x, y, verbose=0)
## L201 label_outside
model.compile("sgd", loss)
model.fit(x, y + 3, verbose=0)
## L203 shapes
model.compile("sgd", "categorical_crossentropy")
model.fit(x, y, verbose=0)
## L203 shapes_bce
model.compile("sgd", "binary_crossentropy")
model.fit(x, y, verbose=0)
## G301 no_target
model.compile("sgd", loss)
model.fit(x, verbose=0)
"""
_add("keras", _keras_cases)
_add("tf_keras", _keras_cases)

_add("tf_hf", """
## D102 columns_missing
ready.to_tf_dataset(columns=["input_ids", "labels"], batch_size=4)
## D102 label_cols_missing
ready.to_tf_dataset(columns=["input_ids"], label_cols=["labels"], batch_size=4)
## B101 to_tf_dataset_no_collator
data = ready.to_tf_dataset(columns=["input_ids", "attention_mask"], label_cols="label", batch_size=4)
for batch in data:
    pass
## B101 to_tf_dataset_default_collator
data = ready.to_tf_dataset(columns=["input_ids", "attention_mask", "label"], batch_size=4, collate_fn=DefaultDataCollator(return_tensors="tf"))
for batch in data:
    pass
## B101 to_tf_dataset_default_collator_np
data = ready.to_tf_dataset(columns=["input_ids", "attention_mask", "label"], batch_size=4, collate_fn=DefaultDataCollator(return_tensors="np"))
model.fit(data, verbose=0)
## B101 prepare_tf_dataset
data = model.prepare_tf_dataset(ready, batch_size=4, collate_fn=DefaultDataCollator(return_tensors="np"))
model.fit(data, verbose=0)
## B101 tokenizer_tensors
tokenizer(["a good film", "bad"], return_tensors="tf")
## B101 dict_of_lists
data = tf.data.Dataset.from_tensor_slices((dict(tokenizer(["a good film", "bad"])), [0, 1]))
## B101 ragged_arrays
import numpy as np
model.fit(dict(tokenizer(["a good film", "bad"], return_tensors="np")), np.array([0, 1]))
## D101 raw_columns
data = raw.to_tf_dataset(columns=["label"], batch_size=4)
model.fit(data, verbose=0)
## D101 raw_text
data = raw.to_tf_dataset(columns=["text"], label_cols="label", batch_size=4)
model.fit(data, verbose=0)
## D101 loop_without_ids
model(labels=tf.constant([0, 1]))
## D101 prepare_raw
data = model.prepare_tf_dataset(raw, batch_size=4, tokenizer=tokenizer)
model.fit(data, verbose=0)
## B103 lists_into_model
model(tokenizer(["a good film"]))
## F101 distilbert_long
model(input_ids=tf.ones((2, 20), tf.int32))
## F101 bert_long
TFBertForSequenceClassification(bert_config)(input_ids=tf.ones((2, 20), tf.int32))
## F101 distilbert_fit
data = tf.data.Dataset.from_tensor_slices(({"input_ids": tf.ones((4, 20), tf.int32)}, tf.zeros(4, tf.int32))).batch(2)
model.fit(data, verbose=0)
## F102 distilbert_vocabulary
model(input_ids=tf.fill((2, 4), 9))
## F102 distilbert_fit
data = tf.data.Dataset.from_tensor_slices(({"input_ids": tf.fill((4, 6), 12)}, tf.zeros(4, tf.int32))).batch(2)
model.fit(data, verbose=0)
## L201 label_outside
data = tf.data.Dataset.from_tensor_slices(({"input_ids": tf.fill((4, 6), 2)}, tf.fill(4, 2))).batch(2)
model.fit(data, verbose=0)
## A701 optimizer_keras3
import keras
model.compile(optimizer=keras.optimizers.Adam(1e-4))
""")
