"""SigV4 by botocore."""

import datetime
import hashlib
import types
import urllib.parse

import botocore.auth
import cases
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

HEADERS = ("Content-Type", "If-Match", "If-None-Match", "Range", "x-amz-checksum-crc32c",
           "x-amz-sdk-checksum-algorithm", "Content-MD5", "User-Agent", "Expect", "x-amz-Meta-Name")
S3_QUERY = ("list-type", "prefix", "start-after", "max-keys", "uploads", "uploadId", "partNumber",
            "continuation-token", "delimiter", "X-Odd")


def _header_value(draw):
    value = cases.word(draw, 1, 20, cases.LETTERS + cases.DIGITS + '"=/+-  ')
    return value.strip() or "x"


def make_case(draw, kind):
    service = "s3" if kind == "presign" else draw.choice(("s3", "s3", "s3", "sts", "ec2"))
    if service == "s3":
        path = "/" + urllib.parse.quote(cases.object_name(draw), safe="/~")
    else:
        path = draw.choice(("/", "/a/b", "/a%20b/c", "/a/../b", "/a//b", "/./x/"))
    query = {draw.choice(S3_QUERY): draw.choice(("", cases.odd_word(draw, 1, 30)))
             for _ in range(draw.randint(0, 5))}
    headers = {}
    for _ in range(draw.randint(0, 5)):
        headers[draw.choice(HEADERS)] = _header_value(draw)
    if draw.random() < 0.3:
        headers["x-amz-meta-" + cases.word(draw, alphabet=cases.LETTERS + "-").strip("-") + "x"] = "v"
    body = draw.choice(("", cases.odd_word(draw, 1, 100)))
    signed = kind == "sigv4" and (service != "s3" or draw.random() < 0.7)
    return {
        "kind": kind,
        "method": draw.choice(("GET", "PUT", "HEAD", "DELETE", "POST")),
        "scheme": draw.choice(("http", "https")),
        "host": draw.choice(("127.0.0.1:9000", "bucket.example.org", "localhost:8443",
                             "s3.eu-west-1.amazonaws.com")),
        "path": path,
        "query": list(query.items()),
        "headers": list(headers.items()),
        "body": body,
        "payload_hash": hashlib.sha256(body.encode()).hexdigest() if signed else "UNSIGNED-PAYLOAD",
        "access_key": "AKIA" + cases.word(draw, 8, 16).upper(),
        "secret_key": cases.word(draw, 20, 40, cases.LETTERS + cases.DIGITS + "+/"),
        "token": draw.choice(("", "", cases.word(draw, 10, 200, cases.LETTERS + "+/="))),
        "region": draw.choice(("us-east-1", "eu-central-1", "auto")),
        "service": service,
        "time": cases.moment(draw),
        "valid_for": draw.randint(1, 7 * 24 * 3600),
    }


def _parsed(query):
    return sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))


def ours(case, answer):
    if case["kind"] == "presign":
        return _parsed(answer["query"].replace("+", "%2B"))
    return {name.lower(): value for name, value in answer.items()}


def theirs(case):
    now = datetime.datetime.fromtimestamp(case["time"], datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda remove_tzinfo=True: now.replace(tzinfo=None)
    keys = Credentials(case["access_key"], case["secret_key"], case["token"] or None)
    before = dict(case["headers"])
    url = f"{case['scheme']}://{case['host']}{case['path']}"
    if case["kind"] == "presign":
        request = AWSRequest(case["method"], url, before, params=dict(case["query"]))
        signer = botocore.auth.S3SigV4QueryAuth(keys, "s3", case["region"], case["valid_for"])
        signer.add_auth(request)
        return _parsed(urllib.parse.urlsplit(request.url).query.replace("+", "%2B"))
    request = AWSRequest(case["method"], url, before, case["body"].encode(), dict(case["query"]))
    signed = case["payload_hash"] != "UNSIGNED-PAYLOAD"
    request.context["client_config"] = types.SimpleNamespace(s3={"payload_signing_enabled": signed})
    auth = botocore.auth.S3SigV4Auth if case["service"] == "s3" else botocore.auth.SigV4Auth
    auth(keys, case["service"], case["region"]).add_auth(request)
    return {name.lower(): value for name, value in request.headers.items() if name not in before}
