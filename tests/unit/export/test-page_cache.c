// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include "export/prometheus.h"
#include "exposition_parser.h"
#include "fixture.h"
#include "tests/unit/unit.h"

#define READERS   4
#define ROUNDS    200
#define SNAPSHOTS 8

static const struct page_options classic = { .schema = SCHEMA_CLASSIC };
static const struct page_options current = { .schema = SCHEMA_CURRENT };
static const struct page_options both = { .schema = SCHEMA_BOTH };
static const struct fixture_shape shape = { .zones = 2, .containers = 3, .processes = 30 };

static struct http_response ask(struct page_cache *cache, const char *accept, bool gzip)
{
	struct http_request request = { .path = "/metrics",
					.accept = accept,
					.accepts_gzip = gzip };
	struct http_response response = { 0 };

	page_cache_handle_metrics(cache, &request, &response);
	return response;
}

/* As the server does it. */
static struct http_response ask_until_answered(struct page_cache *cache, const char *accept,
					       bool gzip)
{
	struct http_response response = ask(cache, accept, gzip);

	while (response.status == HTTP_ASK_AGAIN)
		response = ask(cache, accept, gzip);
	return response;
}

static void give_back(const struct http_response *response)
{
	if (response->release)
		response->release(response->owner);
}

static void asks_for_patience_before_the_first(void **state)
{
	struct page_cache *cache;
	struct http_response response;

	fixture_hold(NULL);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &classic, &cache), 0);
	response = ask(cache, "", false);
	assert_int_equal(response.status, 503);
	assert_int_equal(response.retry_after_s, 1);
	give_back(&response);
	page_cache_free(cache);
	page_cache_free(NULL);
}

static void renders_once_a_snapshot(void **state)
{
	struct page_cache *cache;
	struct fixture fixture;
	struct http_response first, second, openmetrics, packed, packed_again;

	fixture_make(&fixture, &shape);
	fixture_hold(&fixture.snapshot);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &classic, &cache), 0);
	first = ask(cache, "", false);
	second = ask(cache, "*/*", false);
	assert_int_equal(first.status, 200);
	assert_ptr_equal(first.body, second.body);
	assert_null(first.content_encoding);
	openmetrics = ask(cache, "application/openmetrics-text", false);
	assert_ptr_not_equal(first.body, openmetrics.body);
	assert_non_null(strstr(openmetrics.content_type, "openmetrics"));
	assert_true(exposition_parse(openmetrics.body, openmetrics.len, true, NULL, NULL) > 0);
	packed = ask(cache, "", true);
	packed_again = ask(cache, "", true);
	assert_ptr_equal(packed.body, packed_again.body);
	assert_string_equal(packed.content_encoding, "gzip");
	assert_memory_equal(packed.body, "\x1f\x8b", 2);
	assert_int_equal(fixture_references(), 0);
	give_back(&first);
	give_back(&second);
	give_back(&openmetrics);
	give_back(&packed);
	give_back(&packed_again);
	page_cache_free(cache);
	fixture_release(&fixture);
}

/* A format is one of the set's, with pages of its own. */
static void each_format_has_its_pages(void **state)
{
	static const char accept[] = "application/vnd.google.protobuf;encoding=delimited;"
				     "proto=io.prometheus.client.MetricFamily";
	struct page_cache *cache;
	struct fixture fixture;
	struct http_response text, protobuf, again, packed;

	fixture_make(&fixture, &shape);
	fixture_hold(&fixture.snapshot);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &classic, &cache), 0);
	text = ask(cache, "", false);
	protobuf = ask(cache, accept, false);
	again = ask(cache, accept, false);
	packed = ask(cache, accept, true);
	assert_non_null(strstr(protobuf.content_type, "encoding=delimited"));
	assert_ptr_not_equal(protobuf.body, text.body);
	assert_ptr_equal(protobuf.body, again.body);
	assert_non_null(
		memmem(protobuf.body, protobuf.len, "kepler_node_package_joules_total", 32));
	assert_null(memmem(protobuf.body, protobuf.len, "# HELP", 6));
	assert_memory_equal(packed.body, "\x1f\x8b", 2);
	give_back(&text);
	give_back(&protobuf);
	give_back(&again);
	give_back(&packed);
	page_cache_free(cache);
	fixture_release(&fixture);
}

static void a_slow_reader_keeps_its_bytes(void **state)
{
	CLEANUP_FREE char *before = NULL;
	struct page_cache *cache;
	struct fixture fixture;
	struct http_response slow, fresh, later;

	fixture_make(&fixture, &shape);
	fixture_hold(&fixture.snapshot);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &classic, &cache), 0);
	slow = ask(cache, "", false);
	before = malloc(slow.len);
	assert_non_null(before);
	memcpy(before, slow.body, slow.len);

	fixture.snapshot.sequence++;
	fixture.health.open_fds = 4711;
	fresh = ask(cache, "", false);
	assert_ptr_not_equal(fresh.body, slow.body);
	assert_non_null(memmem(fresh.body, fresh.len, "open_fds 4711\n", 14));
	assert_memory_equal(slow.body, before, slow.len);
	give_back(&slow);

	/* The page has no reader now: the next one is written over it. */
	give_back(&fresh);
	fixture.snapshot.sequence++;
	later = ask(cache, "", false);
	assert_ptr_equal(later.owner, fresh.owner);
	give_back(&later);
	page_cache_free(cache);
	fixture_release(&fixture);
}

/* However many read slowly, each from its own snapshot on, two bodies are kept. */
static void two_generations_live(void **state)
{
	struct page_cache *cache;
	struct fixture fixture;
	struct http_response oldest, older, fresh, packed;

	fixture_make(&fixture, &shape);
	fixture_hold(&fixture.snapshot);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &classic, &cache), 0);
	oldest = ask(cache, "", false);
	fixture.snapshot.sequence++;
	older = ask(cache, "", false);
	assert_ptr_not_equal(older.owner, oldest.owner);
	fixture.snapshot.sequence++;
	fresh = ask(cache, "", false);
	assert_int_equal(fresh.status, HTTP_ASK_AGAIN);
	assert_null(fresh.release);
	packed = ask(cache, "", true); /* it is made of the other */
	assert_int_equal(packed.status, HTTP_ASK_AGAIN);
	assert_int_equal(fixture_references(), 0);
	give_back(&oldest);
	fresh = ask(cache, "", false);
	assert_int_equal(fresh.status, 200);
	assert_ptr_equal(fresh.owner, oldest.owner);
	give_back(&older);
	give_back(&fresh);
	page_cache_free(cache);
	fixture_release(&fixture);
}

static void an_older_snapshot_does_not_come_back(void **state)
{
	struct page_cache *cache;
	struct fixture fixture;
	struct http_response now, late;

	fixture_make(&fixture, &shape);
	fixture_hold(&fixture.snapshot);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &classic, &cache), 0);
	now = ask(cache, "", false);
	fixture.snapshot.sequence--; /* a thread that was held up between taking it and asking */
	late = ask(cache, "", false);
	assert_ptr_equal(now.body, late.body);
	give_back(&now);
	give_back(&late);
	page_cache_free(cache);
	fixture_release(&fixture);
}

static void a_new_schema_shows_at_once(void **state)
{
	struct page_cache *cache;
	struct fixture fixture;
	struct http_response response;

	fixture_make(&fixture, &shape);
	fixture_hold(&fixture.snapshot);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &classic, &cache), 0);
	response = ask(cache, "", false);
	assert_null(memmem(response.body, response.len, "kepler_node_cpu_joules", 22));
	give_back(&response);
	page_cache_set_options(cache, &current);
	response = ask(cache, "", false);
	assert_non_null(memmem(response.body, response.len, "kepler_node_cpu_joules", 22));
	give_back(&response);
	page_cache_free(cache);
	fixture_release(&fixture);
}

static bool shows_created(struct page_cache *cache)
{
	struct http_response response = ask(cache, "application/openmetrics-text", false);
	bool shown = memmem(response.body, response.len, "_created{", 9);

	give_back(&response);
	return shown;
}

/* A reload with --metrics.created: no page of the snapshot that is held may be the old one. */
static void created_shows_and_goes_at_once(void **state)
{
	const struct page_options with = { .schema = SCHEMA_CLASSIC, .created = true };
	struct page_cache *cache;
	struct fixture fixture;

	fixture_make(&fixture, &shape);
	fixture_hold(&fixture.snapshot);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &classic, &cache), 0);
	assert_false(shows_created(cache));
	page_cache_set_options(cache, &with);
	assert_true(shows_created(cache));
	page_cache_set_options(cache, &classic);
	assert_false(shows_created(cache));
	page_cache_free(cache);
	fixture_release(&fixture);
}

static bool shows(struct page_cache *cache, const char *accept, const char *text)
{
	struct http_response response = ask(cache, accept, false);
	bool shown = memmem(response.body, response.len, text, strlen(text));

	give_back(&response);
	return shown;
}

/* A reload with --metrics.processes; the pending energy of a level goes with its rows. */
static void processes_hide_and_show_at_once(void **state)
{
	const struct page_options hidden = { .schema = SCHEMA_BOTH, .processes = PROCESSES_HIDDEN };
	static const char *const formats[] = { "text/plain", "application/openmetrics-text" };
	struct page_cache *cache;
	struct fixture fixture;

	fixture_make(&fixture, &shape);
	fixture_hold(&fixture.snapshot);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &both, &cache), 0);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		page_cache_set_options(cache, &both);
		assert_true(shows(cache, formats[i], "kepler_process_joules_total{"));
		assert_true(shows(cache, formats[i], "kepler_pending_joules{level=\"process\""));
		page_cache_set_options(cache, &hidden);
		assert_false(shows(cache, formats[i], "\nkepler_process_"));
		assert_false(shows(cache, formats[i], "_joules{level=\"process\""));
		assert_true(shows(cache, formats[i], "kepler_pending_joules{level=\"container\""));
		assert_true(shows(cache, formats[i], "kepler_container_joules_total{"));
	}
	page_cache_free(cache);
	fixture_release(&fixture);
}

static unsigned rendered;

static int render_counted(const struct catalog_view *view, const struct page_options *options,
			  struct strbuf *out)
{
	rendered++;
	return prometheus_pages.formats[0].render(view, options, out);
}

/* One format, whose pages are counted, of three containers in two namespaces. */
static struct page_cache *open_namespaces(struct fixture *fixture)
{
	static struct page_format counted;
	static struct page_formats formats;
	struct page_cache *cache;

	rendered = 0;
	counted = (struct page_format){ prometheus_pages.formats[0].labels, render_counted };
	formats = (struct page_formats){ 1, &counted, prometheus_pages.negotiate };
	fixture_make(fixture, &shape);
	fixture->names[0].text.text[LABEL_NAMESPACE] = "shop";
	fixture->names[1].text.text[LABEL_NAMESPACE] = "bank";
	fixture_hold(&fixture->snapshot);
	assert_int_equal(page_cache_new(&formats, NULL, &classic, &cache), 0);
	return cache;
}

static struct http_response ask_namespace(struct page_cache *cache, const char *name, bool gzip)
{
	struct http_request request = { .path = "/metrics", .accept = "", .accepts_gzip = gzip };
	struct http_response response = { 0 };

	page_cache_handle_namespace(cache, name, &request, &response);
	assert_int_equal(response.status, 200);
	return response;
}

static bool has_text(const struct http_response *response, const char *text)
{
	return memmem(response->body, response->len, text, strlen(text));
}

/* A client in a loop costs one rendering for each snapshot and encoding. */
static void a_namespace_is_rendered_once_a_snapshot(void **state)
{
	struct fixture fixture;
	struct page_cache *cache = open_namespaces(&fixture);
	struct http_response slow = ask_namespace(cache, "shop", false);
	struct http_response packed = ask_namespace(cache, "shop", true), fresh;

	for (unsigned i = 0; i < 100; i++) {
		struct http_response again = ask_namespace(cache, "shop", i % 2);

		assert_ptr_equal(again.body, i % 2 ? packed.body : slow.body);
		give_back(&again);
	}
	assert_int_equal(rendered, 2);
	assert_memory_equal(packed.body, "\x1f\x8b", 2);
	give_back(&packed);
	fixture.snapshot.sequence++;
	fresh = ask_namespace(cache, "shop", false);
	assert_int_equal(rendered, 3);
	assert_ptr_not_equal(fresh.body, slow.body);
	give_back(&fresh);
	fixture.snapshot.sequence--; /* of a thread that was held up, with a name of its own */
	fresh = ask_namespace(cache, "bank", false);
	give_back(&fresh);
	fixture.snapshot.sequence++;
	fresh = ask_namespace(cache, "bank", false);
	assert_int_equal(rendered, 5);
	give_back(&fresh);
	page_cache_set_options(cache, &current);
	fresh = ask_namespace(cache, "shop", false);
	assert_int_equal(rendered, 6);
	give_back(&fresh);
	assert_true(has_text(&slow, "\"shop\"")); /* its bytes are still there */
	give_back(&slow);
	page_cache_free(cache);
	fixture_release(&fixture);
}

/* The rows are always of the namespace that is asked for. */
static void bodies_of_namespaces_do_not_mix(void **state)
{
	struct fixture fixture;
	struct page_cache *cache = open_namespaces(&fixture);
	char name[64];

	for (unsigned i = 0; i < 100; i++) {
		struct http_response shop = ask_namespace(cache, "shop", false);
		struct http_response bank = ask_namespace(cache, "bank", false);
		struct http_response other;

		(void)snprintf(name, sizeof(name), "n%u", i);
		other = ask_namespace(cache, name, false);
		assert_true(has_text(&shop, "\"shop\"") && !has_text(&shop, "\"bank\""));
		assert_true(has_text(&bank, "\"bank\"") && !has_text(&bank, "\"shop\""));
		assert_false(has_text(&other, "\"shop\"") || has_text(&other, "\"bank\""));
		give_back(&shop);
		give_back(&bank);
		give_back(&other);
	}
	assert_int_equal(rendered, 102); /* what is used stays, however many names come */
	page_cache_free(cache);
	fixture_release(&fixture);
}

struct crowd {
	struct page_cache *cache;
	bool stop;
	unsigned wrong;
};

/* Each body is of one snapshot: its open_fds and its sequence say the same number. */
static bool is_consistent(const struct http_response *response)
{
	static const char fds[] = "\nkepler_exporter_open_fds ";
	static const char snapshots[] = "\nkepler_exporter_snapshots_total ";
	const char *a = memmem(response->body, response->len, fds, strlen(fds));
	const char *b = memmem(response->body, response->len, snapshots, strlen(snapshots));

	return response->status == 200 && a && b &&
	       strtoul(a + strlen(fds), NULL, 10) == strtoul(b + strlen(snapshots), NULL, 10);
}

static void *read_pages(void *arg)
{
	struct crowd *crowd = arg;

	for (unsigned i = 0; !__atomic_load_n(&crowd->stop, __ATOMIC_SEQ_CST); i++) {
		struct http_response response = ask_until_answered(
			crowd->cache, i & 1 ? "application/openmetrics-text" : "", i % 3 == 0);

		if (i % 3 ? !is_consistent(&response) : response.status != 200)
			__atomic_fetch_add(&crowd->wrong, 1, __ATOMIC_SEQ_CST);
		give_back(&response);
	}
	return NULL;
}

static void a_crowd_sees_whole_pages(void **state)
{
	struct fixture fixtures[SNAPSHOTS];
	struct crowd crowd = { 0 };
	pthread_t threads[READERS];

	for (unsigned i = 0; i < SNAPSHOTS; i++) {
		fixture_make(&fixtures[i], &shape);
		fixtures[i].snapshot.sequence = i + 1;
		fixtures[i].health.open_fds = i + 1;
	}
	fixture_hold(&fixtures[0].snapshot);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &both, &crowd.cache), 0);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_pages, &crowd), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct http_response response;

		fixture_hold(&fixtures[i < SNAPSHOTS ? i : SNAPSHOTS - 1].snapshot);
		response = ask_until_answered(crowd.cache, "", false);
		assert_true(is_consistent(&response));
		give_back(&response);
		if (i % 50 == 49)
			page_cache_set_options(crowd.cache, i % 100 == 99 ? &both : &current);
	}
	__atomic_store_n(&crowd.stop, true, __ATOMIC_SEQ_CST);
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(crowd.wrong, 0);
	assert_int_equal(fixture_references(), 0);
	page_cache_free(crowd.cache);
	for (unsigned i = 0; i < SNAPSHOTS; i++)
		fixture_release(&fixtures[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(asks_for_patience_before_the_first),
		cmocka_unit_test(renders_once_a_snapshot),
		cmocka_unit_test(each_format_has_its_pages),
		cmocka_unit_test(a_slow_reader_keeps_its_bytes),
		cmocka_unit_test(two_generations_live),
		cmocka_unit_test(an_older_snapshot_does_not_come_back),
		cmocka_unit_test(a_new_schema_shows_at_once),
		cmocka_unit_test(created_shows_and_goes_at_once),
		cmocka_unit_test(processes_hide_and_show_at_once),
		cmocka_unit_test(a_namespace_is_rendered_once_a_snapshot),
		cmocka_unit_test(bodies_of_namespaces_do_not_mix),
		cmocka_unit_test(a_crowd_sees_whole_pages),
	};

	return unit_run(tests);
}
