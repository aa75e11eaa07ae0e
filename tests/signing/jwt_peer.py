"""JSON web tokens by the openssl program, which makes the keys, too."""

import atexit
import base64
import json
import pathlib
import shutil
import subprocess
import tempfile

import cases

_folder = pathlib.Path(tempfile.mkdtemp(prefix="outlast-jwt-"))
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
_pems = []


def _openssl(*arguments, given=None):
    return subprocess.run(["openssl", *arguments], input=given, capture_output=True,
                          check=True).stdout


def _pem(draw):
    if not _pems:
        for bits in (2048, 3072):
            pkcs8 = _openssl("genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt",
                             f"rsa_keygen_bits:{bits}")
            _pems.append(pkcs8.decode())
            _pems.append(_openssl("rsa", "-traditional", given=pkcs8).decode())
    return draw.choice(_pems)


def make_case(draw, kind):
    issued = cases.moment(draw)
    claims = {"iss": cases.odd_word(draw, 5, 40), "scope": cases.odd_word(draw), "iat": issued,
              "exp": issued + draw.randint(1, 3600), "aud": cases.odd_word(draw, 1, 60)}
    return {"kind": kind, "claims": claims, "pem": _pem(draw),
            "key_id": draw.choice(("", cases.word(draw, 10, 40)))}


def _decoded(part):
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def ours(case, answer):
    case["token"] = answer["token"]
    head, claims, signature = answer["token"].split(".")
    return _decoded(head), _decoded(claims), signature


def theirs(case):
    """PKCS #1 v1.5 knows one signature for a key and a text: it must be ours."""
    key = _folder / "key.pem"
    key.write_text(case["pem"])
    text = case["token"].rpartition(".")[0]
    signature = _openssl("dgst", "-sha256", "-sign", str(key), given=text.encode())
    head = {"alg": "RS256", "typ": "JWT"}
    if case["key_id"]:
        head["kid"] = case["key_id"]
    return head, case["claims"], base64.urlsafe_b64encode(signature).decode().rstrip("=")
