// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_offer.h"

#include "config/model_url.h"
#include "tests/unit/unit.h"

#define SUM "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void urls_are_of_a_file_or_a_server(void **state)
{
	static const struct {
		const char *url;
		bool is_good, is_file;
	} cases[] = {
		{ "", true, false },
		{ "http://models:8100", true, false },
		{ "https://models/a/b.json", true, true },
		{ "https://models/a/b.JSON?token=1", true, true },
		{ "https://models/?name=b.json", true, false },
		{ "ftp://models/b.json", false, true },
		{ "/etc/model.json", false, true },
		{ "http://", false, false },
		{ "http://user:secret@models/", false, false },
		{ "http://models/a b", false, false },
		{ "http://models/#x", false, false },
		{ "http://models/\n", false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diag diag = { "" };

		assert_int_equal(model_url_check(cases[i].url, &diag) == 0, cases[i].is_good);
		assert_int_equal(diag.text[0] == '\0', cases[i].is_good);
		assert_int_equal(model_url_is_file(cases[i].url), cases[i].is_file);
	}
}

static const struct model_wish wish = {
	.machine = { .processor = "lab_cpu_1", .cores = 8, .chips = 2 },
	.features = "bpf_cpu_time_ms,cpu_cycles",
};

static void a_wish_is_a_query(void **state)
{
	CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT, own = STRBUF_INIT;
	struct model_wish vm = wish;

	model_wish_url(&wish, "http://models:8100/", &plain);
	assert_string_equal(plain.data,
			    "http://models:8100/api/v2/model?format=weights&output=AbsPower"
			    "&features=bpf_cpu_time_ms%2Ccpu_cycles&processor=lab_cpu_1&cores=8"
			    "&chips=2");
	vm.output = MODEL_DYN_POWER;
	model_wish_url(&vm, "http://models/sub?group=BPFOnly&cores=4", &own);
	assert_string_equal(own.data,
			    "http://models/sub/api/v2/model?format=weights&group=BPFOnly&cores=4"
			    "&output=DynPower&features=bpf_cpu_time_ms%2Ccpu_cycles"
			    "&processor=lab_cpu_1&chips=2");
}

static void a_wish_is_a_request_of_upstream(void **state)
{
	CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT;

	model_wish_body(&wish, &body);
	assert_string_equal(
		body.data,
		"{\"metrics\":[\"bpf_cpu_time_ms\",\"cpu_cycles\"],"
		"\"output_type\":\"AbsPower\",\"source\":\"rapl-sysfs\",\"weight\":true,"
		"\"machine_spec\":{\"processor\":\"lab_cpu_1\",\"cores\":8,\"chips\":2}}");
}

static int read_offer(const char *text, struct model_offer *ret, struct diag *diag)
{
	return model_offer_read(text, strlen(text), ret, diag);
}

static void an_offer_has_a_file(void **state)
{
	struct model_offer offer;
	struct diag diag = { "" };

	assert_int_equal(
		read_offer("{\"file\":{\"url\":\"/api/v2/files/a/b.json\",\"sha256\":\"" SUM
			   "\",\"size\":17,\"signature\":\"AAAA\"}}",
			   &offer, &diag),
		0);
	assert_string_equal(offer.path, "/api/v2/files/a/b.json");
	assert_string_equal(offer.sha256, SUM);
	assert_string_equal(offer.signature, "AAAA");
	assert_int_equal(offer.size, 17);
}

static void hostile_offers_are_refused(void **state)
{
#define FILE_OF(url, sum, size)                                                                    \
	"{\"file\":{\"url\":\"" url "\",\"sha256\":\"" sum "\",\"size\":" size "}}"
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "no JSON" },
		{ "[]", "no \"file\"" },
		{ "{\"file\":7}", "no \"file\"" },
		{ FILE_OF("http://elsewhere/x", SUM, "1"), "file.url" },
		{ FILE_OF("/metrics", SUM, "1"), "file.url" },
		{ FILE_OF("/api/v2/files/../../x", SUM, "1"), "file.url" },
		{ FILE_OF("/api/v2/files/a?b", SUM, "1"), "file.url" },
		{ FILE_OF("/api/v2/files/a\\nb", SUM, "1"), "file.url" },
		{ FILE_OF("/api/v2/files/a", "0123", "1"), "file.sha256" },
		{ FILE_OF("/api/v2/files/a", SUM, "0"), "file.size" },
		{ FILE_OF("/api/v2/files/a", SUM, "-1"), "file.size" },
		{ FILE_OF("/api/v2/files/a", SUM, "99999999999"), "file.size" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct model_offer offer;
		struct diag diag = { "" };

		assert_int_equal(read_offer(cases[i].text, &offer, &diag), -EPROTO);
		assert_non_null(strstr(diag.text, cases[i].why));
	}
}

static void a_model_learns_what_its_file_does_not_say(void **state)
{
	static const char text[] =
		"{\"model\":{\"machine_spec\":{\"processor\":\"lab\",\"cores\":64},\"error\":{"
		"\"components\":{\"package\":{\"mae_watts\":4.5,\"mape_percent\":-3}}}}}";
	struct model_component component = {
		.name = "package",
		.error = { .mae_w = (double)NAN, .mape_percent = (double)NAN },
	};
	struct trained_model model = { .components = &component, .component_count = 1 };

	model_offer_complete(text, sizeof(text) - 1, &model);
	assert_true(fabs(component.error.mae_w - 4.5) < 1e-9);
	assert_true(isnan(component.error.mape_percent));
	assert_string_equal(model.machine.processor, "lab");
	assert_int_equal(model.machine.cores, 64);
	model.machine.cores = 8;
	component.error.mae_w = 1;
	model_offer_complete(text, sizeof(text) - 1, &model);
	assert_int_equal(model.machine.cores, 8);
	assert_true(fabs(component.error.mae_w - 1) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_are_of_a_file_or_a_server),
		cmocka_unit_test(a_wish_is_a_query),
		cmocka_unit_test(a_wish_is_a_request_of_upstream),
		cmocka_unit_test(an_offer_has_a_file),
		cmocka_unit_test(hostile_offers_are_refused),
		cmocka_unit_test(a_model_learns_what_its_file_does_not_say),
	};

	return unit_run(tests);
}
