"""Starts S3 servers. Each function takes a Place and gives the environment that reaches it."""

import datetime
import hashlib
import hmac
import http.client
import json
import subprocess
import time

import catalogue
from processes import StartFailed, clean_environment, free_port

BUCKET = "outlast-test"
REGION = "us-east-1"
ACCESS_KEY = "testkey"
SECRET_KEY = "testsecret12"


def _environment(place, access=ACCESS_KEY, secret=SECRET_KEY):
    return {
        "OUTLAST_TEST_STORE": f"s3://{BUCKET}",
        "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{place.seen_port}",
        "AWS_ACCESS_KEY_ID": access,
        "AWS_SECRET_ACCESS_KEY": secret,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def make_bucket(port, access=ACCESS_KEY, secret=SECRET_KEY):
    """PUT /bucket, signed here: needs no client that might not be installed."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    empty = hashlib.sha256(b"").hexdigest()
    host = f"127.0.0.1:{port}"
    names = "host;x-amz-content-sha256;x-amz-date"
    canonical = (f"PUT\n/{BUCKET}\n\nhost:{host}\nx-amz-content-sha256:{empty}\nx-amz-date:{now}\n\n"
                 f"{names}\n{empty}")
    scope = f"{now[:8]}/{REGION}/s3/aws4_request"
    key = b"AWS4" + secret.encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("PUT", f"/{BUCKET}", headers={
        "Host": host, "x-amz-content-sha256": empty, "x-amz-date": now,
        "Authorization": f"AWS4-HMAC-SHA256 Credential={access}/{scope}, SignedHeaders={names}, "
                         f"Signature={signature}"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise StartFailed(f"making the bucket: {answer.status} {body[:300]!r}")


def versitygw(place):
    data = place.folder / "data"
    data.mkdir()
    child = place.spawn([catalogue.go_program("versitygw"), "--port", f"127.0.0.1:{place.port}",
                         "--keep-alive", "--quiet", "posix", str(data)],
                        {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY})
    place.wait_http(child)
    make_bucket(place.port)
    return _environment(place)


def minio(place):
    child = place.spawn([catalogue.minio(), "server", str(place.folder / "data"),
                         "--address", f"127.0.0.1:{place.port}"],
                        {"MINIO_ROOT_USER": ACCESS_KEY, "MINIO_ROOT_PASSWORD": SECRET_KEY,
                         "MINIO_BROWSER": "off"})
    place.wait_http(child)
    make_bucket(place.port)
    return _environment(place)


def s3rver(place):
    child = place.spawn([*catalogue.node_command("s3rver"), "-d", str(place.folder / "data"),
                         "-a", "127.0.0.1", "-p", str(place.port), "--configure-bucket", BUCKET])
    place.wait_http(child)
    return _environment(place, "S3RVER", "S3RVER")


S3PROXY = """s3proxy.endpoint=http://127.0.0.1:{port}
s3proxy.authorization=aws-v4
s3proxy.identity={access}
s3proxy.credential={secret}
jclouds.provider=filesystem
jclouds.filesystem.basedir={data}
"""


def s3proxy(place):
    java = catalogue.need_program("java")
    lib = catalogue.need_installed("s3proxy") / "lib"
    data = place.folder / "data"
    data.mkdir()
    properties = place.folder / "s3proxy.properties"
    properties.write_text(S3PROXY.format(port=place.port, access=ACCESS_KEY, secret=SECRET_KEY,
                                         data=data))
    child = place.spawn([java, "-cp", f"{lib}/*", "org.gaul.s3proxy.Main",
                         "--properties", str(properties)])
    place.wait_http(child)
    make_bucket(place.port)
    return _environment(place)


# One monitor, one store in memory, no authentication inside: a cluster for as long as a test.
CEPH = """[global]
fsid = {fsid}
mon host = v1:127.0.0.1:{mon_port}
mon initial members = a
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
mon allow pool size one = true
mon warn on pool no redundancy = false
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
ms bind msgr2 = false
ms bind ipv6 = false
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
paxos propose interval = 0.05
run dir = {folder}
log file = {folder}/$name.ceph.log
admin socket = {folder}/$name.asok
pid file = {folder}/$name.pid
mon data = {folder}/mon.$id
osd data = {folder}/osd.$id
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:{port}
"""
CEPH_SECONDS_MAX = 40
FSID = "11111111-2222-3333-4444-555555555555"
OSD = "99999999-2222-3333-4444-555555555555"


def radosgw(place):
    programs = catalogue.debian_programs("radosgw")
    folder, mon_port = place.folder, free_port()
    conf = folder / "ceph.conf"
    conf.write_text(CEPH.format(fsid=FSID, mon_port=mon_port, port=place.port, folder=folder))
    (folder / "mon.a").mkdir()
    (folder / "osd.0").mkdir()
    (folder / "osd.0/fsid").write_text(OSD + "\n")

    def call(program, *arguments):
        try:
            done = subprocess.run([programs[program], *arguments], cwd=folder, check=False,
                                  env=clean_environment(), capture_output=True, text=True,
                                  timeout=CEPH_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            raise StartFailed(f"{program} did not end in {CEPH_SECONDS_MAX} s; the OSD said:\n  "
                              + place.said("osd")) from None
        if done.returncode:
            raise StartFailed(f"{program} {arguments[0]}: {done.stderr.strip()[-500:]}")
        return done.stdout

    monmap, with_conf = str(folder / "monmap"), ("-c", str(conf))
    call("monmaptool", "--create", "--clobber", "--fsid", FSID,
         "--addv", "a", f"[v1:127.0.0.1:{mon_port}]", monmap)
    call("ceph-mon", "-i", "a", "--mkfs", "--monmap", monmap, *with_conf)
    # In the foreground (-f), so that they are our children and end with us.
    place.spawn([programs["ceph-mon"], "-f", "-i", "a", *with_conf], label="mon")
    call("ceph", *with_conf, "--connect-timeout", "60", "osd", "new", OSD)
    call("ceph-osd", "-i", "0", "--mkfs", *with_conf, "--osd-uuid", OSD)

    def start_osd():
        return place.spawn([programs["ceph-osd"], "-f", "-i", "0", *with_conf], label="osd")

    osd, end = start_osd(), time.monotonic() + CEPH_SECONDS_MAX
    # It gives up when it asks the monitor before that has told it the cluster's name: again, then.
    while json.loads(call("ceph", *with_conf, "--format", "json", "osd", "stat"))["num_up_osds"] == 0:
        if osd.poll() is not None:
            osd = start_osd()
        if time.monotonic() > end:
            raise StartFailed("the OSD does not come up; it said:\n  " + place.said("osd"))
    call("radosgw-admin", *with_conf, "user", "create", "--uid=t", "--display-name=t",
         f"--access-key={ACCESS_KEY}", f"--secret-key={SECRET_KEY}")
    child = place.spawn([programs["radosgw"], "-f", *with_conf, "-n", "client.rgw"])
    place.wait_http(child)
    make_bucket(place.port)
    return _environment(place)


SERVERS = {"versitygw": versitygw, "radosgw": radosgw, "minio": minio, "s3rver": s3rver,
           "s3proxy": s3proxy}
