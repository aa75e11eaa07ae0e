"""Makes the wheel: a zip file of outlast/ and what describes it. So few lines that a build needs nothing from a
network, with any pip: `pip install ./python`, `pip wheel ./python`."""

import base64
import hashlib
import pathlib
import re
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent
WHEEL = "Wheel-Version: 1.0\nGenerator: outlast_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same tree gives the same bytes


def _project():
    """The lines `key = "value"` of [project]: all that we need of TOML, which Python reads from 3.11 on."""
    text = (HERE / "pyproject.toml").read_text(encoding="utf-8")
    section = text.split("[project]\n", 1)[1].split("\n[", 1)[0]
    return dict(re.findall(r'^([a-z-]+) = "(.*)"$', section, re.MULTILINE))


def _metadata():
    project = _project()
    return (
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        f"Summary: {project['description']}\nRequires-Python: {project['requires-python']}\n"
        "License: Apache-2.0\nDescription-Content-Type: text/markdown\n\n"
        + (HERE / "README.md").read_text(encoding="utf-8")
    )


def _base_name():
    return "{name}-{version}".format(**_project())


def _package_files():
    return sorted(path for path in (HERE / "outlast").rglob("*") if path.suffix == ".py" or path.name == "py.typed")


def _write_wheel(folder, contents):
    info = f"{_base_name()}.dist-info"
    contents = {**contents, f"{info}/METADATA": _metadata().encode(), f"{info}/WHEEL": WHEEL.encode()}
    records = []
    name = f"{_base_name()}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in contents.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(content)}\n")
            wheel.writestr(_zip_entry(path), content)
        wheel.writestr(_zip_entry(f"{info}/RECORD"), "".join(records) + f"{info}/RECORD,,\n")
    return name


def _zip_entry(path):
    entry = zipfile.ZipInfo(path, LONG_AGO)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


# --- What pip calls (PEP 517, PEP 660)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in _package_files()}
    return _write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {"_outlast_editable.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    base = _base_name()
    with tarfile.open(pathlib.Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as sdist:
        described = pathlib.Path(sdist_directory) / "PKG-INFO"
        described.write_text(_metadata(), encoding="utf-8")
        sdist.add(described, f"{base}/PKG-INFO")
        described.unlink()
        own = [HERE / "pyproject.toml", HERE / "README.md", pathlib.Path(__file__).resolve()]
        for path in own + _package_files():
            sdist.add(path, f"{base}/{path.relative_to(HERE).as_posix()}")
    return f"{base}.tar.gz"
