"""Widen the embedded checkpoint: ``python assets/widen.py`` rewrites ``assets/distilbert-wide`` from ``assets/distilbert-mini``.

Every unit of the residual stream and every attention head is doubled so that the model computes exactly what it computed before
(Net2WiderNet; Chen, Goodfellow and Shlens 2016). What changes is how it bears a learning rate: Adam moves every weight by about the
rate, so a layer's output moves in proportion to its number of inputs. A model twice as wide is ruined by half the rate.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

HERE = Path(__file__).resolve().parent
SEED = 1986
EMBEDDINGS = ("word_embeddings.weight", "position_embeddings.weight")
NOT_DOUBLED_OUTPUTS = ("ffn.lin1",)
NOT_DOUBLED_INPUTS = ("ffn.lin2",)


def widened(name: str, tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """One weight of the wide model. The stream ``x`` becomes ``[x, x]``; the inner units of the feed-forward blocks stay as many."""
    if name == "vocab_projector.bias" or "ffn.lin1.bias" in name:
        return tensor
    if name.endswith(EMBEDDINGS):
        return torch.cat([tensor, tensor], 1)
    if tensor.dim() == 1:
        # The word head multiplies with the doubled embeddings, which would double its scores.
        scale = 0.5 if name.startswith("vocab_layer_norm") else 1.0
        return scale * torch.cat([tensor, tensor])
    rows = tensor if any(part in name for part in NOT_DOUBLED_OUTPUTS) else torch.cat([tensor, tensor])
    if any(part in name for part in NOT_DOUBLED_INPUTS):
        return rows
    # What is added on one half is taken off on the other, so that the twins are equal now and can part in training.
    apart = 0.5 * tensor.std() * torch.randn(rows.shape, generator=generator)
    return torch.cat([rows / 2 + apart, rows / 2 - apart], 1)


def main() -> None:
    """Write the wide checkpoint and check that it gives the same hidden states."""
    from transformers import AutoModel, AutoTokenizer

    source, target = HERE / "distilbert-mini", HERE / "distilbert-wide"
    target.mkdir(exist_ok=True)
    for path in source.iterdir():
        if path.name not in ("config.json", "model.safetensors", "README.md"):
            (target / path.name).write_bytes(path.read_bytes())
    config = json.loads((source / "config.json").read_text())
    config |= {"dim": 2 * config["dim"], "n_heads": 2 * config["n_heads"]}
    (target / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    generator = torch.Generator().manual_seed(SEED)
    weights = load_file(source / "model.safetensors")
    wide = {name: widened(name, tensor, generator).contiguous() for name, tensor in sorted(weights.items())}
    save_file(wide, target / "model.safetensors", metadata={"format": "pt"})

    batch = AutoTokenizer.from_pretrained(source)("The bath is boiling.", "The bath is hot.", return_tensors="pt")
    with torch.no_grad():
        narrow, wide = (AutoModel.from_pretrained(folder).eval()(**batch)[0] for folder in (source, target))
    difference = (wide - torch.cat([narrow, narrow], -1)).abs().max().item()
    print(f"largest difference of a hidden state: {difference:.1e}")
    assert difference < 1e-3


if __name__ == "__main__":
    main()
