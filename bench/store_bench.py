#!/usr/bin/env python3
"""Moves bytes to and from an S3 server, by outlast and by the tools people use, in turn.

Run by './dev bench store', which starts the server (tests/servers/run). Prints one table: for each of
four cases the median time of every tool, its rate, its peak memory, and how outlast compares. The
server's own ceiling is what several curl processes reach at once with the same requests: a large
object goes up in parts. Every upload makes new objects, so that no tool can find its work done.
Only ratios within one run count.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20


def run(command, env=None):
    """Runs a command; (seconds, peak resident MiB).

    A child is born with the peak of its parent, so this script must stay small itself.
    """
    started = time.monotonic()
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"store bench: {' '.join(command[:4])} … failed: {errors.decode(errors='replace')[-500:]}")
    return seconds, usage.ru_maxrss / 1024


class Server:
    """The S3 server that tests/servers/run has started."""

    def __init__(self):
        self.endpoint = os.environ["AWS_ENDPOINT_URL_S3"]
        self.bucket = os.environ["OUTLAST_TEST_STORE"].removeprefix("s3://").strip("/")
        self.user = f"{os.environ['AWS_ACCESS_KEY_ID']}:{os.environ['AWS_SECRET_ACCESS_KEY']}"
        self.region = os.environ.get("AWS_REGION", "us-east-1")

    def curl(self, key, *options):
        return ["curl", "-sSf", "--aws-sigv4", f"aws:amz:{self.region}:s3", "--user", self.user, "-H",
                "x-amz-content-sha256: UNSIGNED-PAYLOAD", *options, f"{self.endpoint}/{self.bucket}/{key}"]

    def curl_all(self, config, transfers):
        """One curl process for many transfers (a key, its options), one after the other."""
        common = [f'aws-sigv4 = "aws:amz:{self.region}:s3"', f'user = "{self.user}"',
                  'header = "x-amz-content-sha256: UNSIGNED-PAYLOAD"', "silent", "fail"]
        texts = ["\n".join([*common, f'url = "{self.endpoint}/{self.bucket}/{key}"', *options])
                 for key, options in transfers]
        config.write_text("\nnext\n".join(texts) + "\n")  # after "next" curl forgets the options
        return ["curl", "-K", str(config)]

    def curl_many(self, config, key, names, upload_from=None, download_to=None):
        """One curl process that moves all `names` of a folder."""
        transfers = []
        for name in names:
            options = [f'output = "{download_to / name if download_to else os.devnull}"']
            if upload_from:
                options.append(f'upload-file = "{upload_from / name}"')
            transfers.append((f"{key}/{name}", options))
        return self.curl_all(config, transfers)


def names_in(folder):
    return sorted(path.name for path in pathlib.Path(folder).iterdir())


class Tool:
    """How a tool uploads and downloads one file, and a folder of small ones. None: it is left out."""
    name = ""

    def put(self, file, key):
        return None

    def get(self, key, file):
        return None

    def put_many(self, folder, key):
        return None

    def get_many(self, key, folder):
        return None


class Outlast(Tool):
    name = "outlast"

    def __init__(self, program, server):
        self.program, self.root = program, f"s3://{server.bucket}/"

    def copy(self, *words):
        return [self.program, "store", "cp", "--quiet", *words]

    def put(self, file, key):
        return self.copy(file, self.root + key)

    def get(self, key, file):
        return self.copy(self.root + key, file)

    def put_many(self, folder, key):
        return self.copy("--recursive", folder, self.root + key)

    def get_many(self, key, folder):
        return self.copy("--recursive", self.root + key, folder)


class Curl(Tool):
    """One stream: small objects go one after the other, over one connection."""
    name = "curl, one stream"

    def __init__(self, server, scratch):
        self.server, self.scratch = server, scratch

    def put(self, file, key):
        return self.server.curl(key, "-T", file)

    def get(self, key, file):
        return self.server.curl(key, "-o", file)

    def put_many(self, folder, key):
        return self.server.curl_many(self.scratch / "one.conf", key, upload_from=pathlib.Path(folder),
                                     names=names_in(folder))

    def get_many(self, key, folder):
        return self.server.curl_many(self.scratch / "one.conf", key, download_to=pathlib.Path(folder),
                                     names=names_in(self.scratch / "many"))


class Rclone(Tool):
    def __init__(self, program, version, server):
        self.name = f"rclone {version}"
        self.base = [program, "--config", "/dev/null", "--s3-provider", "Other", "--s3-endpoint",
                     server.endpoint, "--s3-env-auth", "--s3-region", server.region,
                     "--s3-no-check-bucket", "--transfers", "16", "--checkers", "16",
                     "--s3-upload-concurrency", "8", "--multi-thread-streams", "8", "-q"]
        self.root = f":s3:{server.bucket}/"

    def put(self, file, key):
        return [*self.base, "copyto", file, self.root + key]

    def get(self, key, file):
        return [*self.base, "copyto", self.root + key, file]

    def put_many(self, folder, key):
        return [*self.base, "copy", folder, self.root + key]

    def get_many(self, key, folder):
        return [*self.base, "copy", self.root + key, folder]


class Aws(Tool):
    def __init__(self, program, version, server):
        self.name = f"aws {version}"
        self.base = [program, "--endpoint-url", server.endpoint, "s3", "cp", "--only-show-errors"]
        self.root = f"s3://{server.bucket}/"

    def put(self, file, key):
        return [*self.base, file, self.root + key]

    def get(self, key, file):
        return [*self.base, self.root + key, file]

    def put_many(self, folder, key):
        return [*self.base, "--recursive", folder, self.root + key]

    def get_many(self, key, folder):
        return [*self.base, "--recursive", self.root + key, folder]


class S5cmd(Tool):
    name = "s5cmd"

    def __init__(self, program, server):
        self.base = [program, "--endpoint-url", server.endpoint, "cp"]
        self.root = f"s3://{server.bucket}/"

    def put(self, file, key):
        return [*self.base, file, self.root + key]

    def get(self, key, file):
        return [*self.base, self.root + key, file]

    def put_many(self, folder, key):
        return [*self.base, folder + "/", self.root + key + "/"]

    def get_many(self, key, folder):
        return [*self.base, self.root + key + "/*", folder + "/"]


def version_of(command, word):
    text = subprocess.run(command, capture_output=True, text=True, check=False)
    return (text.stdout + text.stderr).split()[word]


def find_tools(program, server, scratch):
    cache = pathlib.Path(os.environ.get("OUTLAST_TEST_SERVERS", pathlib.Path.home() / ".cache/outlast/servers"))
    found = [Outlast(program, server), Curl(server, scratch)]
    rclone = next((str(path) for path in (cache / "bin/rclone",) if path.exists()), shutil.which("rclone"))
    if rclone:
        found.append(Rclone(rclone, version_of([rclone, "version"], 1), server))
    aws = next((str(path) for path in cache.glob("*/bin/aws")), None) or shutil.which("aws")
    if aws:
        found.append(Aws(aws, version_of([aws, "--version"], 0).removeprefix("aws-cli/"), server))
    if shutil.which("s5cmd"):
        found.append(S5cmd(shutil.which("s5cmd"), server))
    for name, there in (("rclone", rclone), ("aws", aws), ("s5cmd", shutil.which("s5cmd"))):
        if not there:
            print(f"store bench: {name} is not installed and is left out", file=sys.stderr)
    return found


LANES = 4
PART_BYTES = 8 * MIB


def ceiling(server, case, scratch, data):
    """Seconds that several curl processes need together for the same work: what the server can do."""
    if case == "put":
        return ceiling_in_parts(server, scratch, data)
    if case == "get":
        part = data.stat().st_size // LANES
        return run_together([server.curl("big", "-o", os.devnull, "-r", f"{lane * part}-{(lane + 1) * part - 1}")
                             for lane in range(LANES)])
    up = case == "put-many"
    return run_together([server.curl_many(scratch / f"lane{lane}.conf", "ceiling" if up else "many",
                                          names_in(scratch / "many")[lane::LANES],
                                          upload_from=scratch / "many" if up else None)
                         for lane in range(LANES)])


def run_together(jobs):
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(LANES) as pool:
        list(pool.map(run, jobs))
    return time.monotonic() - started


def pieces_of(scratch, data, size):
    pieces = scratch / "pieces"
    if not pieces.exists():
        pieces.mkdir()
        run(["split", "-b", str(size), "-a", "6", "-d", str(data), str(pieces) + "/"])
    return pieces


def ceiling_in_objects(server, scratch, pieces, download_to=None):
    """Files as objects of their own, up or down again."""
    way = {"download_to": download_to} if download_to else {"upload_from": pieces}
    names = names_in(pieces)
    return run_together([server.curl_many(scratch / f"lane{lane}.conf", "ceiling", names[lane::LANES], **way)
                         for lane in range(min(LANES, len(names)))])


def ceiling_in_parts(server, scratch, data):
    pieces = pieces_of(scratch, data, PART_BYTES)
    begun = subprocess.run(server.curl("ceiling?uploads=", "-X", "POST"), check=True, capture_output=True,
                           text=True).stdout
    upload = re.search("<UploadId>(.*)</UploadId>", begun).group(1)
    names = names_in(pieces)
    jobs = []
    for lane in range(LANES):
        transfers = [(f"ceiling?partNumber={int(name) + 1}&uploadId={upload}", pieces / name,
                      scratch / f"tag{name}") for name in names[lane::LANES]]
        jobs.append(server.curl_all(scratch / f"lane{lane}.conf",
                                    [(key, [f'upload-file = "{piece}"', f'dump-header = "{tag}"'])
                                     for key, piece, tag in transfers]))
    seconds = run_together(jobs)
    listed = ""
    for name in names:
        tag = re.search('(?i)etag: *"([^"]*)"', (scratch / f"tag{name}").read_text()).group(1)
        listed += f"<Part><PartNumber>{int(name) + 1}</PartNumber><ETag>{tag}</ETag></Part>"
    body = scratch / "complete.xml"
    body.write_text(f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>")
    return seconds + run(server.curl(f"ceiling?uploadId={upload}", "-X", "POST", "--data-binary", f"@{body}"))[0]


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def make_data(options, scratch):
    with open(scratch / "big", "wb") as file:
        for _ in range(options.mib):
            file.write(os.urandom(MIB))
    many = scratch / "many"
    many.mkdir()
    for index in range(options.objects):
        (many / f"{index:06}").write_bytes(os.urandom(4096))


def check_fetched(case, tool, target, scratch):
    if case == "get" and target.stat().st_size != (scratch / "big").stat().st_size:
        sys.exit(f"store bench: {tool.name} fetched the wrong number of bytes")
    if case == "get-many" and names_in(target) != names_in(scratch / "many"):
        sys.exit(f"store bench: {tool.name} fetched the wrong objects")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the outlast program to measure")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--mib", type=int, default=1024, help="size of the large object")
    parser.add_argument("--objects", type=int, default=10000, help="number of 4 KiB objects")
    parser.add_argument("--case", action="append", help="put, get, put-many or get-many; all unless given")
    parser.add_argument("--without", action="append", default=[], help="a tool to leave out, such as aws")
    options = parser.parse_args()
    server = Server()
    environment = {name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"}

    with tempfile.TemporaryDirectory(prefix="outlast-bench-") as folder:
        scratch = pathlib.Path(folder)
        print(f"store bench: files of both sides are in {scratch.parent}")
        outlast, *others = find_tools(options.program, server, scratch)
        tools = [outlast, *(tool for tool in others if tool.name.split()[0] not in options.without)]
        make_data(options, scratch)
        big, many, target = str(scratch / "big"), str(scratch / "many"), scratch / "target"
        run(outlast.put(big, "big"))
        run(outlast.put_many(many, "many"))
        cases = {
            "put": (f"{options.mib} MiB up", lambda tool: tool.put(big, "up/big")),
            "get": (f"{options.mib} MiB down", lambda tool: tool.get("big", str(target))),
            "put-many": (f"{options.objects} × 4 KiB up", lambda tool: tool.put_many(many, "up/many")),
            "get-many": (f"{options.objects} × 4 KiB down", lambda tool: tool.get_many("many", str(target))),
        }
        for case, (title, command_for) in cases.items():
            if options.case and case not in options.case:
                continue
            times = {tool.name: [] for tool in tools}
            peaks = {tool.name: 0.0 for tool in tools}
            ceilings = []
            for repeat in range(options.repeats):
                # In turn, so that a busy moment of the machine hits all alike; and each is once the
                # first, which finds the memory as the one before it has left it.
                first = repeat % len(tools)
                for tool in tools[first:] + tools[:first]:
                    if case == "get-many":
                        target.mkdir()
                    progress(f"{title}: {tool.name}, {repeat + 1} of {options.repeats}")
                    seconds, peak = run(command_for(tool), environment)
                    times[tool.name].append(seconds)
                    peaks[tool.name] = max(peaks[tool.name], peak)
                    if case in ("get", "get-many"):
                        check_fetched(case, tool, target, scratch)
                        remove(target)
                    else:
                        run([options.program, "store", "rm", "--recursive", outlast.root + "up"])
                ceilings.append(ceiling(server, case, scratch, scratch / "big"))
            progress("")
            show(title, times, peaks, ceilings, options, case)


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def show(title, times, peaks, ceilings, options, case):
    ours = statistics.median(times["outlast"])

    def rate(seconds):
        if case in ("put", "get"):
            return f"{options.mib * MIB / seconds / 1e6:8.0f} MB/s"
        return f"{options.objects / seconds:8.0f} obj/s"

    print(f"{title}  (median of {options.repeats}; ratio: how many times as fast outlast is)")
    for name, seconds in times.items():
        if not seconds:
            continue
        median = statistics.median(seconds)
        spread = f"{min(seconds):.2f}–{max(seconds):.2f} s"
        print(f"  {name:<22} {median:7.2f} s  {spread:<16} {rate(median)}  {peaks[name]:6.0f} MiB"
              f"  {median / ours:6.2f}×")
    median = statistics.median(ceilings)
    print(f"  {'4 curls (ceiling)':<22} {median:7.2f} s  {'':<16} {rate(median)}  {'':>10}  {median / ours:6.2f}×")


if __name__ == "__main__":
    main()
