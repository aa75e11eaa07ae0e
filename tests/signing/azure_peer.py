"""SharedKey and SAS by azure-storage-blob."""

import base64
import datetime
import types
import urllib.parse

import cases
from azure.core.pipeline.transport import HttpRequest
from azure.storage.blob import AccountSasPermissions, ResourceTypes, Services
from azure.storage.blob._shared.authentication import SharedKeyCredentialPolicy
from azure.storage.blob._shared_access_signature import BlobSharedAccessSignature

VERSION = "2021-12-02"
# Not Range: that library signs its own x-ms-range only.
HEADERS = ("Content-Type", "If-Match", "If-None-Match", "Content-MD5", "Content-Encoding",
           "If-Modified-Since", "x-ms-blob-type", "x-ms-blob-content-md5", "x-ms-range",
           "x-ms-client-request-id", "x-ms-copy-source", "x-ms-meta-a", "x-ms-access-tier")
QUERY = ("restype", "comp", "blockid", "prefix", "marker", "maxresults", "timeout", "delimiter",
         "include", "startFrom")


def _key(draw):
    return base64.b64encode(bytes(draw.randrange(256) for _ in range(64))).decode()


def _sas_case(draw):
    starts, expires = cases.moment(draw), cases.moment(draw)
    case = {"account": cases.word(draw, 3, 24), "key": _key(draw), "expires": expires,
            "starts": draw.choice((None, starts)), "https_only": draw.random() < 0.5}
    if draw.random() < 0.5:
        return {**case, "kind": "account_sas", "services": "b",
                "resource_types": draw.choice(("s", "c", "o", "sco", "co")),
                "permissions": draw.choice(("r", "rl", "rwdlac", "rwdl"))}
    return {**case, "kind": "service_sas", "container": cases.word(draw, 3, 20),
            "blob": draw.choice(("", cases.object_name(draw))),
            "permissions": draw.choice(("r", "rl", "racwdl", "racwd"))}


def make_case(draw, kind):
    if kind == "sas":
        return _sas_case(draw)
    account = cases.word(draw, 3, 24)
    path = "/" + cases.word(draw) + "/" + urllib.parse.quote(cases.object_name(draw), safe="/~")
    if draw.random() < 0.5:  # as an emulator has it: the account before the container
        path = f"/{account}{path}"
    query = {draw.choice(QUERY): cases.odd_word(draw, 1, 20) for _ in range(draw.randint(0, 4))}
    url = f"https://{account}.blob.example.org{path}"
    if query:
        url += "?" + "&".join(f"{name}={urllib.parse.quote(value, safe='-_.~')}"
                              for name, value in query.items())
    headers = {"x-ms-date": "Sun, 15 Nov 2026 08:30:00 GMT", "x-ms-version": VERSION}
    for _ in range(draw.randint(0, 6)):
        headers[draw.choice(HEADERS)] = cases.word(draw, 1, 20, cases.LETTERS + '"=/+-')
    return {"kind": kind, "account": account, "key": _key(draw), "url": url,
            "method": draw.choice(("GET", "PUT", "HEAD", "DELETE")),
            "headers": list(headers.items()),
            "body": draw.choice(("", cases.odd_word(draw, 1, 50)))}


def ours(case, answer):
    if case["kind"] == "shared_key":
        return answer["authorization"]
    return sorted(urllib.parse.parse_qsl(answer["query"].replace("+", "%2B")))


def _time(seconds):
    return seconds and datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


def theirs(case):
    if case["kind"] == "shared_key":
        headers = dict(case["headers"])
        if case["body"]:
            headers["Content-Length"] = str(len(case["body"].encode()))
        request = HttpRequest(case["method"], case["url"], headers)
        policy = SharedKeyCredentialPolicy(case["account"], case["key"])
        policy.on_request(types.SimpleNamespace(
            http_request=request, context=types.SimpleNamespace(transport=None)))
        return request.headers["Authorization"]
    signer = BlobSharedAccessSignature(case["account"], case["key"])
    signer.x_ms_version = VERSION
    common = {"permission": case["permissions"], "expiry": _time(case["expires"]),
              "start": _time(case["starts"]), "protocol": "https" if case["https_only"] else None}
    if case["kind"] == "account_sas":
        common["permission"] = AccountSasPermissions.from_string(case["permissions"])
        token = signer.generate_account(Services(blob=True),
                                        ResourceTypes.from_string(case["resource_types"]), **common)
    elif case["blob"]:
        token = signer.generate_blob(case["container"], case["blob"], **common)
    else:
        token = signer.generate_container(case["container"], **common)
    return sorted(urllib.parse.parse_qsl(token.replace("+", "%2B")))
