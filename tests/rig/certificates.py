# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests, by the openssl command: an authority, and what it signs. Keys never leave the test's directory."""
import pathlib
import ssl
import subprocess

from rig import need_program

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    def __init__(self, directory, name="lab"):
        need_program("openssl")
        self.directory = pathlib.Path(directory)
        self.file = self.directory / f"{name}-ca.crt"
        self.key = self.directory / f"{name}-ca.key"
        self.name = name
        openssl("req", "-x509", *KEY, "-keyout", self.key, "-out", self.file, "-days", 2, "-subj", f"/CN={name}")

    def sign(self, name, subject_names="IP:127.0.0.1", days=2):
        """(certificate file, key file); days < 0: it has expired."""
        base = self.directory / f"{self.name}-{name}"
        files = {end: base.with_suffix("." + end) for end in ("key", "csr", "crt", "ext")}
        files["ext"].write_text(f"subjectAltName={subject_names}\n")
        openssl("req", *KEY, "-keyout", files["key"], "-out", files["csr"], "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", files["csr"], "-CA", self.file, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                "-extfile", files["ext"], "-out", files["crt"])
        return files["crt"], files["key"]

    def server_context(self, name="server", subject_names="IP:127.0.0.1", days=2, ask_client=False):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.sign(name, subject_names, days))
        if ask_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.file)
        return context
