"""Model files opened, changed and closed again, with digests that fit."""

import hashlib
import io
import json
import zipfile


def members_of(file):
    """Return the members of an archive by name: a path, a file or bytes."""
    with zipfile.ZipFile(io.BytesIO(file) if isinstance(file, bytes) else file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members, compression=zipfile.ZIP_STORED):
    """Return an archive of members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def signed(path, payload=None, without=(), **changes):
    """Write a model file again with another payload or header, and digests that fit."""
    members = members_of(path)
    payload = members["model.skops"] if payload is None else payload
    header = json.loads(members["kernelwise.json"])
    header |= {"payload_sha256": hashlib.sha256(payload).hexdigest()} | changes
    text = json.dumps({key: value for key, value in header.items() if key not in without}).encode()
    digest = hashlib.sha256(text).hexdigest()
    path.write_bytes(zipped({"kernelwise.json": text, "sha256": digest, "model.skops": payload}))


def schema_of(path):
    """Return the description of the model in a model file."""
    return json.loads(members_of(members_of(path)["model.skops"])["schema.json"])


def change_model(path, change=lambda root: root, arrays=lambda name, data: data):
    """Sign a model file with a changed description, or changed arrays."""
    members = members_of(members_of(path)["model.skops"])
    root = change(json.loads(members.pop("schema.json")))
    text = root if isinstance(root, str) else json.dumps(root)
    changed = {name: arrays(name, data) for name, data in members.items()}
    signed(path, zipped(changed | {"schema.json": text}, zipfile.ZIP_DEFLATED))


def nodes(node):
    """Yield all descriptions of values in the description of a model."""
    if isinstance(node, dict):
        if isinstance(node.get("__module__"), str):
            yield node
        node = list(node.values())
    if isinstance(node, list):
        for child in node:
            yield from nodes(child)
