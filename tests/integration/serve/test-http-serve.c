// SPDX-License-Identifier: Apache-2.0
/* Serves a fixture with hostile names until its input ends: for test-http-prometheus.py. */
#include <stdio.h>

#include "base/macro.h"
#include "export/prometheus.h"
#include "tests/unit/export/fixture.h"

int main(void)
{
	static const char *const names[] = { "\"} 1\n",  "a\\",      "\\\"",   "\n# EOF\n",
					     "\xff\xfe", "\x01\x1b", "{}=,",   "\xe2\x80\xae RTL",
					     "\xc3",     "",         "# HELP", "a\"b\\c\nd" };
	static const struct fixture_shape shape = {
		.zones = 4, .containers = 5, .processes = 100, .idle_on_rows = true
	};
	static const struct page_options both = { .schema = SCHEMA_BOTH, .created = true };
	static const char *const listen[] = { "127.0.0.1:0" };
	struct http_route route = { .path = "/metrics", .handler = page_cache_handle_metrics };
	struct http_options options = {
		.listen = listen, .listen_count = 1, .routes = &route, .route_count = 1
	};
	struct http_server *server;
	struct fixture fixture;
	char address[64], line[16];

	fixture_make(&fixture, &shape);
	for (size_t i = 0; i < 100; i++)
		(void)snprintf(fixture.labels[LEVEL_PROCESS][i].command, LEDGER_COMM_MAX, "%s",
			       names[i % ARRAY_SIZE(names)]);
	for (int i = 0; i < 5; i++)
		(void)snprintf(fixture.names[i].id, 128, "%s%c", names[i], (char)(0x80 + i));
	fixture_hold(&fixture.snapshot);
	if (page_cache_new(&prometheus_pages, NULL, &both, (struct page_cache **)&route.userdata) <
		    0 ||
	    http_server_start(&options, &server, NULL) < 0 ||
	    http_server_address(server, 0, address, sizeof(address)) < 0)
		return 1;
	(void)printf("%s\n", address);
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	http_server_stop(server);
	page_cache_free(route.userdata);
	fixture_release(&fixture);
	return 0;
}
