# SPDX-License-Identifier: Apache-2.0
"""A server of pages that a test makes, such as an exporter's page with a fault."""
import http.server
import threading
import urllib.request


def page_of(url):
    """What the exporter at @url says now."""
    with urllib.request.urlopen(url + "/metrics", timeout=10) as answer:
        return answer.read().decode()


class PageServer(http.server.ThreadingHTTPServer):
    """Answers /NAME with make(NAME)."""
    daemon_threads = True

    def __init__(self, make):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                page = make(self.path.strip("/")).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *args):
                pass
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"

    def __exit__(self, *exc):
        self.shutdown()
        self.server_close()
