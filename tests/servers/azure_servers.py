"""Starts Azurite, with an account of our own."""

import base64
import datetime
import hashlib
import hmac
import http.client

import catalogue
from processes import StartFailed

CONTAINER = "outlast-test"
ACCOUNT = "outlasttest"
KEY = base64.b64encode(hashlib.sha512(b"a key for tests only").digest()).decode()


def make_container(port):
    """PUT /account/container, signed here: needs no client that might not be installed."""
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
    version = "2021-12-02"
    # With the account in the path, as in Azurite, it stands in the signed resource twice.
    text = ("PUT\n" + "\n" * 11 + f"x-ms-date:{date}\nx-ms-version:{version}\n"
            f"/{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container")
    signature = base64.b64encode(
        hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("PUT", f"/{ACCOUNT}/{CONTAINER}?restype=container", headers={
        "x-ms-date": date, "x-ms-version": version, "Content-Length": "0",
        "Authorization": f"SharedKey {ACCOUNT}:{signature}"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 201:
        raise StartFailed(f"making the container: {answer.status} {body[:300]!r}")


def azurite(place):
    data = place.folder / "data"
    data.mkdir()
    child = place.spawn([*catalogue.node_command("azurite"), "--blobHost", "127.0.0.1",
                         "--blobPort", str(place.port), "-l", str(data), "-s", "--disableTelemetry"],
                        {"AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"})
    place.wait_http(child)
    make_container(place.port)
    endpoint = f"http://127.0.0.1:{place.seen_port}/{ACCOUNT}"
    return {
        "OUTLAST_TEST_STORE": f"az://{ACCOUNT}/{CONTAINER}",
        "AZURE_STORAGE_CONNECTION_STRING":
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
            f"BlobEndpoint={endpoint};",
        "AZURE_STORAGE_ACCOUNT": ACCOUNT,
        "AZURE_STORAGE_KEY": KEY,
        "AZURE_CONFIG_DIR": str(place.folder / "no-azure"),
    }


SERVERS = {"azurite": azurite}
