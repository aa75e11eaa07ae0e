"""Other people's clients: each copies a folder to a prefix of the test's bucket, and back."""

import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
CHUNK_BYTES = 5 << 20  # small, so that the large files go in parts


def _skip(why):
    print(f"Skipped: {why}", flush=True)
    sys.exit(SKIPPED)


def _call(command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr or done.stdout}")


class Aws:
    def __init__(self):
        if not shutil.which("aws"):
            _skip("there is no program 'aws' on PATH: run tests/servers/install python-clients")
        self._bucket = os.environ["OUTLAST_TEST_STORE"]

    def _copy(self, source, target):
        # Without the trailing checksums that this client adds by itself, which Ceph 16 refuses.
        _call(["aws", "s3", "cp", "--recursive", "--only-show-errors", source, target],
              AWS_REQUEST_CHECKSUM_CALCULATION="when_required",
              AWS_RESPONSE_CHECKSUM_VALIDATION="when_required")

    def upload(self, folder, prefix):
        self._copy(str(folder), f"{self._bucket}/{prefix}")

    def download(self, prefix, folder):
        self._copy(f"{self._bucket}/{prefix}", str(folder))


class Rclone:
    def __init__(self):
        if not shutil.which("rclone"):
            _skip("there is no program 'rclone' on PATH: run ./dev setup test")
        self._bucket = os.environ["OUTLAST_TEST_STORE"].removeprefix("s3://")

    def _copy(self, source, target):
        _call(["rclone", "--s3-provider", "Other", "--s3-env-auth",
               "--s3-endpoint", os.environ["AWS_ENDPOINT_URL_S3"],
               "--s3-region", os.environ["AWS_REGION"],
               "--s3-chunk-size", str(CHUNK_BYTES) + "B", "--s3-upload-cutoff", "8Mi",
               "--config", os.devnull, "copy", source, target])

    def upload(self, folder, prefix):
        self._copy(str(folder), f":s3:{self._bucket}/{prefix}")

    def download(self, prefix, folder):
        self._copy(f":s3:{self._bucket}/{prefix}", str(folder))


class Azure:
    def __init__(self):
        try:
            from azure.storage.blob import ContainerClient
        except ImportError:
            _skip("there is no azure-storage-blob: run tests/servers/install python-clients")
        self._container = ContainerClient.from_connection_string(
            os.environ["AZURE_STORAGE_CONNECTION_STRING"],
            os.environ["OUTLAST_TEST_STORE"].rpartition("/")[2], api_version="2021-12-02",
            max_single_put_size=CHUNK_BYTES, max_block_size=CHUNK_BYTES)

    def upload(self, folder, prefix):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name = f"{prefix}/{path.relative_to(folder).as_posix()}"
                with open(path, "rb") as data:
                    self._container.upload_blob(name, data)

    def download(self, prefix, folder):
        for blob in self._container.list_blobs(name_starts_with=prefix + "/"):
            path = pathlib.Path(folder) / blob.name.removeprefix(prefix + "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._container.download_blob(blob.name).readall())


def make(name):
    return {"aws": Aws, "rclone": Rclone, "azure": Azure}[name]()
