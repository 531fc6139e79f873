"""Loan default from binned columns read as a token sequence, folds, loss computed inside the model."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tf_keras
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from transformers import BertConfig, TFBertForSequenceClassification

BINS = 8
COLUMNS = ["income", "debt", "age", "tenure", "late", "lines"]


def loans(n=1500, seed=6):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, len(COLUMNS)))
    z = 1.8 * x[:, 1] - 1.4 * x[:, 0] + 1.6 * x[:, 4] - 0.6 * x[:, 3] + 0.8 * x[:, 1] * x[:, 4] - 2.0
    return x, (rng.random(n) < 1 / (1 + np.exp(-1.5 * z))).astype("int64")


class Binner:
    def fit(self, x):
        self.edges = [np.quantile(c, np.linspace(0, 1, BINS + 1)[1:-1]) for c in x.T]
        return self

    def tokens(self, x):
        cols = [np.digitize(c, e) + 1 + j * BINS for j, (c, e) in enumerate(zip(x.T, self.edges))]
        return np.column_stack([np.zeros(len(x), int)] + cols).astype("int32")


def new_model():
    cfg = BertConfig(vocab_size=1 + BINS * len(COLUMNS), hidden_size=32, num_hidden_layers=2,
                     num_attention_heads=2, intermediate_size=64, max_position_embeddings=8,
                     num_labels=2, pad_token_id=None, hidden_dropout_prob=0.0,
                     attention_probs_dropout_prob=0.0)
    m = TFBertForSequenceClassification(cfg)
    m.compile(optimizer=tf_keras.optimizers.Adam(1e-3))
    return m


def batch_dict(tokens, y):
    return {"input_ids": tokens, "labels": y}


def main():
    x, y = loans()
    aucs = []
    print(f"default share {y.mean():.3f}")
    for k, (tr, te) in enumerate(StratifiedKFold(3, shuffle=True, random_state=1).split(x, y)):
        tf_keras.utils.set_random_seed(100 + k)
        binner = Binner().fit(x[tr])
        model = new_model()
        h = model.fit(batch_dict(binner.tokens(x[tr]), y[tr]), epochs=8, batch_size=32, verbose=0)
        logits = model.predict({"input_ids": binner.tokens(x[te])}, batch_size=100, verbose=0).logits
        margin = logits[:, 1] - logits[:, 0]
        aucs.append(roc_auc_score(y[te], margin))
        print(f"fold {k}: train loss {h.history['loss'][0]:.4f} -> {h.history['loss'][-1]:.4f}  "
              f"test auc {aucs[-1]:.4f}  accuracy {np.mean((margin > 0) == y[te]):.4f}")
        tf_keras.backend.clear_session()
    print(f"mean AUC {np.mean(aucs):.4f}")


if __name__ == "__main__":
    main()
