"""Starts servers that speak the JSON API of Google Cloud Storage."""

import http.client
import json
import os

import catalogue
from processes import StartFailed

BUCKET = "outlast-test"


def _environment(place):
    return {
        "OUTLAST_TEST_STORE": f"gs://{BUCKET}",
        "STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{place.seen_port}",
        "GOOGLE_CLOUD_PROJECT": "outlast-test",
        "CLOUDSDK_CONFIG": str(place.folder / "no-gcloud"),
        # Nothing here may ask the network for the metadata service.
        "NO_GCE_CHECK": "true",
    }


def make_bucket(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/storage/v1/b?project=outlast-test", json.dumps({"name": BUCKET}),
                       {"Content-Type": "application/json"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status not in (200, 201, 409):
        raise StartFailed(f"making the bucket: {answer.status} {body[:300]!r}")


def fake_gcs_server(place):
    seen = f"127.0.0.1:{place.seen_port}"
    child = place.spawn([catalogue.go_program("fake-gcs-server"), "-scheme", "http",
                         "-host", "127.0.0.1", "-port", str(place.port), "-backend", "memory",
                         "-public-host", seen, "-external-url", f"http://{seen}"])
    place.wait_http(child)
    make_bucket(place.port)
    return _environment(place)


def gcsemulator(place):
    child = place.spawn([catalogue.go_program("gcsemulator"), "-host", "127.0.0.1",
                         "-port", str(place.port), "-dir", str(place.folder / "data")])
    place.wait_http(child)
    make_bucket(place.port)
    return _environment(place)


def gcp_storage_emulator(place):
    child = place.spawn([catalogue.python(), "-m", "gcp_storage_emulator", "start",
                         "--host=127.0.0.1", f"--port={place.port}", "--in-memory",
                         f"--default-bucket={BUCKET}"])
    place.wait_http(child)
    return _environment(place)


def gcs_stand_in(place):
    program = os.environ.get("OUTLAST_GCS_STAND_IN")
    if not program or not os.path.exists(program):
        raise catalogue.Missing("OUTLAST_GCS_STAND_IN does not name the program gcs_stand_in: "
                                "build it, and set it (ctest does)")
    child = place.spawn([program, "--port", str(place.port), "--bucket", BUCKET])
    place.wait_http(child)
    return _environment(place)


SERVERS = {"fake-gcs-server": fake_gcs_server, "gcsemulator": gcsemulator,
           "gcp-storage-emulator": gcp_storage_emulator, "gcs-stand-in": gcs_stand_in}
