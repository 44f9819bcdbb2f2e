"""A language model of two layers with random weights, for a real server: `python tiny_model.py model.gguf`.

Needs the packages `gguf` and `numpy`. What it writes is noise that a grammar forces into the form that is asked for:
the protocol is real, the judgement is not. Free text is one letter long: a string without end is never a reply.
"""

from __future__ import annotations

import sys

import gguf
import numpy as np
import numpy.typing as npt

WIDTH, HIDDEN, LAYERS, HEADS, CONTEXT = 64, 128, 2, 4, 8192
SPECIAL = ("<unk>", "<s>", "</s>")
CHAT = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "


def write(path: str) -> None:
    """Write the model; the same bytes every time."""
    bytes_ = [f"<0x{value:02X}>" for value in range(256)]
    signs = ["\u2581", *map(chr, range(33, 127))]
    words = [each.encode() for each in (*SPECIAL, *bytes_, *signs)]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.BYTE] * len(bytes_) + [gguf.TokenType.NORMAL] * len(signs)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words)
    writer.add_token_scores([0.0] * 3 + [-1000.0] * 256 + [-float(place) for place in range(len(signs))])
    writer.add_token_types([int(kind) for kind in kinds])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(CHAT)
    generator = np.random.default_rng(0)

    def noise(*shape: int) -> npt.NDArray[np.float32]:
        return (generator.standard_normal(shape) * 0.08).astype(np.float32)

    embedding = noise(len(words), WIDTH)
    quote = words.index(b'"')
    embedding[:, :2] = 1.0, 0.0  # the first direction is in every state, the second after a quotation mark
    embedding[quote, 1] = 1.0
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    output = noise(len(words), WIDTH) * 8
    output[len(SPECIAL) : len(SPECIAL) + 256] = 0
    output[:, :2] = 0
    for sign, weight in ((b'"', 100.0), (b"{", 80.0), (b"]", 60.0)):  # an item begins, and one item is enough
        output[words.index(sign), 0] = weight
    output[words.index(b"k"), 1] = 300.0
    writer.add_tensor("output.weight", output)
    for layer in range(LAYERS):
        at = f"blk.{layer}."
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{at}{name}.weight", np.ones(WIDTH, np.float32))
        for name in ("attn_q", "attn_k", "attn_v"):
            writer.add_tensor(f"{at}{name}.weight", noise(WIDTH, WIDTH))
        # Layers that add nothing: what comes next depends on the last sign alone.
        writer.add_tensor(f"{at}attn_output.weight", np.zeros((WIDTH, WIDTH), np.float32))
        writer.add_tensor(f"{at}ffn_gate.weight", noise(HIDDEN, WIDTH))
        writer.add_tensor(f"{at}ffn_up.weight", noise(HIDDEN, WIDTH))
        writer.add_tensor(f"{at}ffn_down.weight", np.zeros((WIDTH, HIDDEN), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(sys.argv[1])
