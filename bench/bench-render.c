// SPDX-License-Identifier: Apache-2.0
/*
 * The cost of a scrape. CPU of rendering (first of a snapshot, warm label cache), of gzip, and of
 * answering again over loopback, for about SERIES series (argument, default 10,000), and with all
 * counters of work where "counters" is the second argument, or 300 containers where it is "owners".
 * Medians of RUNS; the answer's figure is the CPU of the server's thread alone.
 */
#include <arpa/inet.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "attribution/counters.h"
#include "base/clock.h"
#include "base/macro.h"
#include "export/catalog/catalog_walk.h"
#include "export/gzip_body.h"
#include "export/otlp/otlp_attributes.h"
#include "export/otlp/otlp_sink.h"
#include "export/prometheus.h"
#include "export/remote-write/snappy_block.h"
#include "export/remote-write/write_ended.h"
#include "export/remote-write/write_queue.h"
#include "export/remote-write/write_reader.h"
#include "export/remote-write/write_sender.h"
#include "export/text_sink.h"
#include "tests/unit/export/fixture.h"

#define RUNS 101

static const struct page_options classic = { .schema = SCHEMA_CLASSIC };

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(const char *what, double *us, size_t n)
{
	qsort(us, n, sizeof(*us), by_value);
	printf("%-34s median %8.1f us   p10 %8.1f   p90 %8.1f\n", what, us[n / 2], us[n / 10],
	       us[n * 9 / 10]);
}

static size_t count_series(const char *text)
{
	size_t lines = 0;

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!*text)
			break;
		lines += *text != '#';
	}
	return lines;
}

/* Allocated memory, unlike resident memory, does not depend on the order of the measurements. */
static double allocated_mb(void)
{
	struct mallinfo2 all = mallinfo2();

	return (double)(all.uordblks + all.hblkhd) / 1e6;
}

static double cpu_us(void)
{
	return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e3;
}

static void bench_render(const struct snapshot *snapshot, enum exposition exposition,
			 const char *what)
{
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT;
	struct label_cache *cache;
	double us[RUNS];

	if (label_cache_new(prometheus_pages.formats[exposition].labels, NAMES_OF_PAGES, &cache) <
	    0)
		exit(1);
	for (int i = -3; i < RUNS; i++) {
		double begin = cpu_us();

		strbuf_reset(&body);
		if (page_render(&prometheus_pages.formats[exposition], snapshot, NULL, &classic,
				cache, &body) < 0)
			exit(1);
		if (i >= 0)
			us[i] = cpu_us() - begin;
		else if (i == -3)
			printf("%s: %zu series, %zu bytes; first ever %.0f us\n", what,
			       exposition == EXPOSITION_PROTOBUF ? 0 : count_series(body.data),
			       body.len, cpu_us() - begin);
	}
	report(what, us, RUNS);
	label_cache_free(cache);
}

static void bench_gzip(const struct snapshot *snapshot)
{
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT, gzip = STRBUF_INIT;
	struct label_cache *cache;
	double us[RUNS];

	if (label_cache_new(text_labels, NAMES_OF_PAGES, &cache) < 0 ||
	    page_render(prometheus_pages.formats, snapshot, NULL, &classic, cache, &body) < 0)
		exit(1);
	for (int i = 0; i < RUNS; i++) {
		double begin = cpu_us();

		if (gzip_body(body.data, body.len, &gzip) < 0)
			exit(1);
		us[i] = cpu_us() - begin;
	}
	printf("gzip: %zu of %zu bytes\n", gzip.len, body.len);
	report("gzip", us, RUNS);
	label_cache_free(cache);
}

/* A request to a receiver of OTLP: rendered for all @levels, then compressed. */
static void bench_otlp(const struct snapshot *snapshot, unsigned levels, const char *what)
{
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT, gzip = STRBUF_INIT;
	struct otlp_target target = { .version = "1", .instance = "node" };
	struct catalog_view view = { .snapshot = snapshot, .levels = levels };
	struct otlp_memory memory = { 0 };
	struct label_cache *cache;
	uint64_t points = 0;
	double us[RUNS], gzip_us[RUNS], before_mb = allocated_mb();

	otlp_attribute_add(&target.resource, 0x0a, &(struct label_pair){ "host.name", "node", 0 });
	if (label_cache_new(otlp_row_form, NAMES_BIT(NAMES_OPENTELEMETRY), &cache) < 0)
		exit(1);
	for (int i = -3; i < RUNS; i++) {
		int at = i < 0 ? 0 : i;
		double begin = cpu_us(), middle;

		if (label_cache_view(cache, snapshot, view.rows) < 0 ||
		    otlp_render(&target, &view, &memory, &body, &points) < 0)
			exit(1);
		middle = cpu_us();
		if (gzip_body(body.data, body.len, &gzip) < 0)
			exit(1);
		otlp_memory_deliver(&memory);
		gzip_us[at] = cpu_us() - middle;
		us[at] = cpu_us() - begin;
	}
	printf("%s: %llu points, %zu bytes, %zu compressed; memory %.2f MB\n", what,
	       (unsigned long long)points, body.len, gzip.len, allocated_mb() - before_mb);
	report("  its gzip", gzip_us, RUNS);
	report(what, us, RUNS);
	strbuf_release(&target.resource);
	otlp_memory_release(&memory);
	label_cache_free(cache);
}

/* Remote write to one receiver, without the network: walk, queue in memory, Snappy. */
struct write_bench {
	struct write_sink sink;
	struct write_ended ended;
	struct write_queue *queue;
	struct strbuf message, block;
	struct write_reader reader;
	struct snappy_writer writer;
	bool is_version_1;
	size_t bytes, packed, series;
	double snappy_us;
};

static int queue_batch(void *userdata, const struct write_batch *batch)
{
	struct write_bench *bench = userdata;

	strbuf_reset(&bench->message);
	if (write_batch_finish(batch, &bench->message) < 0)
		exit(1);
	write_queue_put(bench->queue, bench->message.data, bench->message.len, batch->series_count,
			bench->sink.time_ms);
	if (write_ended_keep(&bench->ended, batch, &bench->message) < 0)
		exit(1);
	bench->series += batch->series_count;
	return 0;
}

static void send_as_2(struct write_bench *bench)
{
	double begin = cpu_us();

	strbuf_reset(&bench->block);
	if (snappy_block(bench->message.data, bench->message.len, &bench->block) < 0)
		exit(1);
	bench->snappy_us += cpu_us() - begin;
	bench->bytes += bench->message.len;
	bench->packed += bench->block.len;
}

static void send_as_1(struct write_bench *bench)
{
	size_t len;

	if (write_reader_open(&bench->reader, bench->message.data, bench->message.len) < 0)
		exit(1);
	while (write_convert_to_1(&bench->reader, WRITE_SLICE_SERIES, WRITE_SLICE_BYTES,
				  &bench->writer) > 0) {
		if (!snappy_writer_finish(&bench->writer, &len))
			exit(1);
		bench->bytes += bench->writer.content_len;
		bench->packed += len;
	}
}

static void send_queue(struct write_bench *bench)
{
	uint32_t series;

	while (write_queue_peek(bench->queue, bench->sink.time_ms, &bench->message, &series) > 0) {
		if (bench->is_version_1)
			send_as_1(bench);
		else
			send_as_2(bench);
		write_queue_pop(bench->queue);
	}
	/* As the sender does. */
	strbuf_release(&bench->message);
	strbuf_release(&bench->block);
	snappy_writer_release(&bench->writer);
}

static double write_once(struct write_bench *bench, struct label_cache *cache,
			 const struct snapshot *snapshot, double *ret_walk_us)
{
	struct catalog_view view = { .snapshot = snapshot, .start_ms = 1 };
	double begin = cpu_us();

	bench->bytes = bench->packed = bench->series = 0;
	bench->snappy_us = 0;
	if (label_cache_view(cache, snapshot, view.rows) < 0)
		exit(1);
	write_sink_begin(&bench->sink, bench->sink.time_ms + 1000);
	catalog_walk(&view, SCHEMA_CLASSIC, &bench->sink.sink);
	if (write_sink_finish(&bench->sink) < 0 ||
	    write_ended_mark(&bench->ended, &bench->sink) < 0)
		exit(1);
	write_ended_next(&bench->ended);
	*ret_walk_us = cpu_us() - begin;
	send_queue(bench);
	return cpu_us() - begin;
}

/* In turns with a scrape, so that both see the same machine. */
static void bench_remote_write(const struct snapshot *snapshot, bool is_version_1, const char *what)
{
	static const struct label_pair externals[] = { { "instance", "node", false },
						       { "job", "kepler", false } };
	const struct write_sink_options options = { .externals = externals,
						    .external_count = ARRAY_SIZE(externals) };
	const struct write_queue_options queue = { .max_age_ms = 3600000 };
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT, gzip = STRBUF_INIT;
	struct write_bench bench = { .is_version_1 = is_version_1 };
	struct label_cache *cache, *text_cache;
	double us[RUNS], walk_us[RUNS], snappy_us[RUNS], text_us[RUNS];
	double before_mb = allocated_mb(), text_mb = 0;

	write_sink_init(&bench.sink, &options);
	bench.sink.full = queue_batch;
	bench.sink.userdata = &bench;
	if (write_queue_open(&queue, &bench.queue, NULL) < 0 ||
	    label_cache_new(write_form, NAMES_OF_PAGES, &cache) < 0 ||
	    label_cache_new(text_labels, NAMES_OF_PAGES, &text_cache) < 0)
		exit(1);
	for (int i = -3; i < RUNS; i++) {
		int at = i < 0 ? 0 : i;
		double begin = cpu_us();

		strbuf_reset(&body);
		if (page_render(prometheus_pages.formats, snapshot, NULL, &classic, text_cache,
				&body) < 0)
			exit(1);
		if (gzip_body(body.data, body.len, &gzip) < 0)
			exit(1);
		if (i == -3)
			text_mb = allocated_mb() - before_mb;
		text_us[at] = cpu_us() - begin;
		us[at] = write_once(&bench, cache, snapshot, &walk_us[at]);
		snappy_us[at] = bench.snappy_us;
	}
	printf("%s: %zu series, %zu bytes, %zu compressed\n", what, bench.series, bench.bytes,
	       bench.packed);
	printf("  memory of it: %.2f MB\n", allocated_mb() - before_mb - text_mb);
	report("  a scrape: text and gzip, in turns", text_us, RUNS);
	report("  its walk", walk_us, RUNS);
	report("  its Snappy", snappy_us, RUNS);
	report("  all of it", us, RUNS);
	printf("  of a scrape: %.1f %% (walk %.1f %%)\n", us[RUNS / 2] / text_us[RUNS / 2] * 100,
	       walk_us[RUNS / 2] / text_us[RUNS / 2] * 100);
	write_sink_release(&bench.sink);
	write_ended_release(&bench.ended);
	write_queue_close(bench.queue);
	strbuf_release(&bench.message);
	write_reader_release(&bench.reader);
	strbuf_release(&bench.block);
	snappy_writer_release(&bench.writer);
	label_cache_free(cache);
	label_cache_free(text_cache);
}

static double process_cpu_us(void)
{
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e3;
}

static size_t scrape(const struct sockaddr_in *to, const char *request, char *sink, size_t size)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t len = 0;
	ssize_t n;

	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) < 0 ||
	    send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		exit(1);
	while ((n = recv(fd, sink, size, 0)) > 0)
		len += (size_t)n;
	close(fd);
	return len;
}

/* The client is this thread: its CPU time is subtracted, and the rest is the server's. */
static void bench_answer(const struct http_server *server, const char *request, const char *what)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	static char sink[1 << 18];
	char address[64];
	double us[RUNS];
	size_t len = 0;

	(void)http_server_address(server, 0, address, sizeof(address));
	to.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < RUNS; i++) {
		double all = process_cpu_us(), own = cpu_us();

		len = scrape(&to, request, sink, sizeof(sink));
		us[i] = process_cpu_us() - all - (cpu_us() - own);
	}
	printf("%s: %zu bytes\n", what, len);
	report(what, us, RUNS);
}

static void bench_server(const struct snapshot *snapshot)
{
	static const char *const listen[] = { "127.0.0.1:0" };
	struct http_route route = { .path = "/metrics", .handler = page_cache_handle_metrics };
	struct http_options options = {
		.listen = listen, .listen_count = 1, .routes = &route, .route_count = 1
	};
	struct page_cache *cache;
	struct http_server *server;

	fixture_hold(snapshot);
	if (page_cache_new(&prometheus_pages, NULL, &classic, &cache) < 0)
		exit(1);
	route.userdata = cache;
	if (http_server_start(&options, &server, NULL) < 0)
		exit(1);
	bench_answer(server, "GET /metrics HTTP/1.0\r\n\r\n", "answer again");
	bench_answer(server, "GET /metrics HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n",
		     "answer again, gzip");
	bench_answer(server, "GET /none HTTP/1.0\r\n\r\n", "answer of 50 bytes");
	http_server_stop(server);
	page_cache_free(cache);
}

int main(int argc, char **argv)
{
	uint32_t series = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
	bool counting = argc > 2 && strcmp(argv[2], "counters") == 0;
	struct fixture_shape shape = { .zones = 3,
				       .containers = 50,
				       .processes = series / 4,
				       .counters = counting ? SIGNALS_COUNTERS : 0 };
	struct fixture fixture;

	if (argc > 2 && strcmp(argv[2], "owners") == 0)
		shape.containers = 300;
	fixture_make(&fixture, &shape);
	/* Slots are dense in the program, and arrays by slot are memory. */
	for (enum level level = 0; level < LEVEL_COUNT; level++)
		fixture.retired_labels[level]->slot = 0;
	bench_render(&fixture.snapshot, EXPOSITION_TEXT, "render text");
	bench_render(&fixture.snapshot, EXPOSITION_OPENMETRICS, "render OpenMetrics");
	bench_render(&fixture.snapshot, EXPOSITION_PROTOBUF, "render protobuf");
	bench_gzip(&fixture.snapshot);
	bench_otlp(&fixture.snapshot, LEVEL_BIT(LEVEL_CONTAINER), "OTLP of containers, gzip");
	bench_otlp(&fixture.snapshot, LEVEL_BIT(LEVEL_PROCESS), "OTLP of processes, gzip");
	bench_remote_write(&fixture.snapshot, false, "remote write 2.0");
	bench_remote_write(&fixture.snapshot, true, "remote write 1.0");
	if (gzip_body_load()) {
		printf("with libdeflate:\n");
		bench_gzip(&fixture.snapshot);
		bench_otlp(&fixture.snapshot, LEVEL_BIT(LEVEL_CONTAINER),
			   "OTLP of containers, gzip");
		bench_otlp(&fixture.snapshot, LEVEL_BIT(LEVEL_PROCESS), "OTLP of processes, gzip");
	}
	bench_server(&fixture.snapshot);
	fixture_release(&fixture);
	return 0;
}
