"""Safetensors files without packages: their headers, and the bytes of their tensors."""
import json
import struct


def parts(path):
    """The header of a safetensors file, and the tensors behind it."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length)), file.read()


def write(path, header, tensors):
    """Writes a file of a header and the tensors behind it."""
    text = json.dumps(header).encode()
    # Tensors begin at a multiple of eight bytes.
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + tensors)
