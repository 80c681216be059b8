// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_estimate.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define FEATURE(name, most)                                                                        \
	"{\"name\": \"" name "\", \"scale\": " most ", \"minimum\": 0, \"maximum\": " most "}"
#define COMPONENT(name, features, weights)                                                         \
	"{\"name\": \"" name "\", \"error\": {\"bound_w\": 4}, \"features\": [" features           \
	"], \"predictor\": {\"form\": \"linear\", \"weights\": [" weights "]}}"
#define MODEL(output, cores, components)                                                           \
	"{\"format\": \"kepler-model\", \"version\": 1, \"name\": \"m\", \"output\": \"" output    \
	"\", \"machine\": {\"processor\": \"p\", \"cores\": " cores                                \
	"}, \"components\": [" components "]}"
#define TIME FEATURE("bpf_cpu_time_ms", "4000")

/* 20 W idle, 80 W more when all four CPUs are busy. */
#define PACKAGE MODEL("AbsPower", "4", COMPONENT("package", TIME, "20, 80"))

/* The machine of the models, unless @options name another. */
static struct zone_source *meter_of(const struct model_estimate_options *options)
{
	struct model_estimate_options own = *options;
	struct zone_source *meter;

	if (!own.machine.processor[0])
		own.machine = (struct machine_spec){ .processor = "p",
						     .cores = options->vm.host_cpus ? 8 : 4 };
	assert_int_equal(model_estimate_new(&own, &meter), 0);
	return meter;
}

static const struct model_place first_place = { 0, "m" }, second_place = { 1, "n" };

static void parse(const char *text, struct trained_model *ret)
{
	struct diag diag = { "" };

	if (trained_model_parse(ret, "m.json", text, strlen(text), &diag) < 0)
		fail_msg("%s", diag.text);
}

static int add_at(struct zone_source *meter, const struct model_place *place, const char *text,
		  struct diag *diag)
{
	struct trained_model model;

	parse(text, &model);
	return model_estimate_add(meter, place, &model, UINT32_MAX, diag);
}

static int add(struct zone_source *meter, const char *text, struct diag *diag)
{
	return add_at(meter, &first_place, text, diag);
}

static int replace(struct zone_source *meter, const struct model_place *place, const char *text,
		   struct diag *diag)
{
	struct trained_model model;

	parse(text, &model);
	return model_estimate_replace(meter, place, &model, diag);
}

static struct zone_source *meter_with(const struct model_estimate_options *options,
				      const char *text)
{
	struct zone_source *meter = meter_of(options);
	struct diag diag = { "" };

	if (add(meter, text, &diag) < 0)
		fail_msg("%s", diag.text);
	return meter;
}

/* At @second: @busy_ms of CPU time since the last. */
static bool pass(struct zone_source *meter, unsigned second, unsigned busy_ms,
		 struct energy_span *ret)
{
	const struct node_work work = {
		.time_ns = second * NSEC_PER_SEC,
		.busy_ns = busy_ms * NSEC_PER_MSEC,
	};

	zone_source_feed(meter, &work);
	return zone_source_advance(meter, 0, ret);
}

static void test_idle_and_dynamic_power(void **state)
{
	const struct model_estimate_options options = { .cpus = 4 };
	struct zone_source *meter = meter_with(&options, PACKAGE);
	const struct zone *zone = zone_source_zone(meter, 0);
	struct energy_span span;

	assert_int_equal(zone_source_count(meter), 1);
	assert_int_equal(zone->kind, ZONE_PACKAGE);
	assert_int_equal(zone->quality, QUALITY_ESTIMATED);
	assert_true(zone->knows_idle);
	assert_string_equal(zone->path, "m");
	assert_true(pass(meter, 10, 0, &span));
	assert_false(span.known);
	assert_true(pass(meter, 12, 4000, &span)); /* half of four CPUs for two seconds */
	assert_true(span.known);
	assert_int_equal(span.energy_uj, 2 * 60 * UJ_PER_J);
	assert_int_equal(span.idle_uj, 2 * 20 * UJ_PER_J);
	assert_int_equal(span.from_ns, 10 * NSEC_PER_SEC);
	assert_int_equal(span.to_ns, 12 * NSEC_PER_SEC);
	assert_false(pass(meter, 12, 0, &span)); /* the clock stands still */
	zone_source_free(meter);
}

/* The same load of each core as on the model's machine draws a share of it. */
static void test_a_machine_of_another_size(void **state)
{
	const struct model_estimate_options options = { .cpus = 2 };
	struct zone_source *meter = meter_with(&options, PACKAGE);
	struct model_state known;
	struct energy_span span;

	assert_true(pass(meter, 10, 0, &span));
	assert_true(pass(meter, 11, 1000, &span));
	assert_int_equal(span.energy_uj, 30 * UJ_PER_J);
	assert_int_equal(span.idle_uj, 10 * UJ_PER_J);
	zone_source_state(meter, 0, &known);
	assert_true(fabs(known.error_w - 2) < 1e-9);
	zone_source_set_cpus(meter, 8);
	assert_true(pass(meter, 12, 8000, &span));
	assert_int_equal(span.energy_uj, 200 * UJ_PER_J);
	zone_source_free(meter);
}

static void test_a_virtual_machine_has_no_idle_power(void **state)
{
	const struct model_estimate_options options = { .cpus = 2, .is_vm = true };
	struct zone_source *meter = meter_with(&options, PACKAGE);
	struct energy_span span;

	assert_int_equal(zone_source_zone(meter, 0)->scope, SCOPE_VM_DYNAMIC);
	assert_false(zone_source_zone(meter, 0)->knows_idle);
	assert_true(pass(meter, 10, 0, &span));
	assert_true(pass(meter, 11, 1000, &span));
	assert_int_equal(span.energy_uj, 20 * UJ_PER_J); /* on a line whatever neighbours do */
	assert_int_equal(span.idle_uj, 0);
	zone_source_free(meter);
}

/* A curve that bends: of 8 host CPUs the first costs 20 W, and all of them 90 W. */
#define BENT                                                                                       \
	"{\"format\": \"kepler-model\", \"version\": 1, \"name\": \"m\", \"output\": "             \
	"\"AbsPower\", "                                                                           \
	"\"machine\": {\"processor\": \"p\", \"cores\": 8}, \"components\": "                      \
	"[{\"name\": \"package\", \"error\": "                                                     \
	"{\"bound_ratio\": 0.1}, \"features\": [{\"name\": \"bpf_cpu_time_ms\", \"maximum\": "     \
	"8000}], "                                                                                 \
	"\"predictor\": {\"form\": \"logarithmic\", \"feature\": 0, \"a\": 50, \"b\": 0.0005, "    \
	"\"c\": 30}}]}"

/* In proportion to CPU time, of a host whose 6 other CPUs are half busy; never its idle power. */
static void test_a_part_of_a_host_that_bends(void **state)
{
	struct model_estimate_options options = { .cpus = 2, .is_vm = true };
	struct zone_source *meter = meter_with(&options, BENT);
	double host_w = 50 * log(0.0005 * 4000 + 1);
	struct model_state wide, narrow;
	struct energy_span span;

	assert_true(pass(meter, 10, 0, &span));
	assert_true(pass(meter, 11, 1000, &span));
	assert_true(fabs((double)span.energy_uj / 1e6 - host_w / 4) < 1e-3);
	assert_int_equal(span.idle_uj, 0);
	zone_source_state(meter, 0, &wide);
	assert_true(wide.error_w > 0.1 * host_w / 4);
	assert_true(pass(meter, 12, 0, &span));
	assert_int_equal(span.energy_uj, 0);
	zone_source_free(meter);
	options.vm = (struct vm_hints){ 8, 0.5, 0.5 };
	meter = meter_with(&options, BENT);
	assert_true(pass(meter, 10, 0, &span));
	assert_true(pass(meter, 11, 1000, &span));
	zone_source_state(meter, 0, &narrow);
	assert_true(narrow.error_w < wide.error_w);
	assert_true(fabs(narrow.error_w - 0.1 * (30 + host_w) / 4) < 1e-6);
	zone_source_free(meter);
}

/* A full host is at the end of what the model has learned: it is off by 6 % more there. */
static void test_a_model_is_less_sure_of_a_full_host(void **state)
{
	const struct model_estimate_options options = { .cpus = 2,
							.is_vm = true,
							.vm = { 8, 1, 1 } };
	struct zone_source *meter = meter_with(&options, BENT);
	double part_w = 50 * log(0.0005 * 8000 + 1) / 4, of_model_w = 0.1 * (30 / 4.0 + part_w);
	struct model_state known;
	struct energy_span span;

	assert_true(pass(meter, 10, 0, &span));
	assert_true(pass(meter, 11, 2000, &span));
	zone_source_state(meter, 0, &known);
	assert_true(fabs((double)span.energy_uj / 1e6 - part_w) < 1e-3);
	assert_true(fabs(known.error_w - hypot(of_model_w, 1.645 * 0.06 * part_w)) < 1e-3);
	zone_source_free(meter);
}

/* vCPUs wait for a fifth of what they want, however much that is: its 8 CPUs are all busy. */
static void test_a_part_of_a_full_host(void **state)
{
	const struct model_estimate_options options = { .cpus = 2, .is_vm = true };
	struct zone_source *meter = meter_with(&options, BENT);
	double full_w = 50 * log(0.0005 * 8000 + 1);
	struct node_work work = { 0 };
	struct energy_span span;
	struct vm_share share;

	for (unsigned i = 1; i <= 80; i++) {
		work.time_ns = i * NSEC_PER_SEC;
		work.busy_ns = (i % 2 ? 400 : 1600) * NSEC_PER_MSEC;
		work.waited_ns = work.busy_ns / 4;
		zone_source_feed(meter, &work);
		assert_true(zone_source_advance(meter, 0, &span));
	}
	zone_source_vm_share(meter, 0, &share);
	assert_true(share.full > 0.99 && share.full < 1);
	assert_true(fabs((double)span.energy_uj / 1e6 - full_w * 1600 / 8000) < 1e-3);
	work.time_ns += NSEC_PER_SEC;
	work.waited_ns = 0;
	zone_source_feed(meter, &work);
	zone_source_vm_share(meter, 0, &share);
	assert_true(share.full <= 0);
	zone_source_free(meter);
}

#define NAMED(processor, error)                                                                    \
	"{\"format\": \"kepler-model\", \"version\": 1, \"name\": \"m\", \"output\": "             \
	"\"AbsPower\", \"machine\": {" processor "\"cores\": 4, \"chips\": 1, \"memory_gb\": 8, "  \
	"\"frequency_mhz\": 2000}, \"components\": [{\"name\": \"package\", \"error\": {" error    \
	"}, \"features\": [" TIME "], \"predictor\": {\"form\": \"linear\", \"weights\": "         \
	"[20, 80]}}]}"

static int judge(const char *text, bool gives_way, double builtin_error, struct model_state *ret,
		 struct diag *diag)
{
	struct model_estimate_options options = {
		.cpus = 4,
		.machine = { "", "intel_xeon_gold_6330", 4, 1, 8, 2000, 2 },
	};
	const struct model_place place = { 0, "m", gives_way };
	struct zone_source *meter;
	struct energy_span span;
	int r;

	options.builtin_error[ZONE_PACKAGE] = builtin_error;
	meter = meter_of(&options);
	r = add_at(meter, &place, text, diag);
	if (r == 0) {
		assert_true(pass(meter, 10, 0, &span));
		assert_true(pass(meter, 12, 4000, &span)); /* 60 W */
		zone_source_state(meter, 0, ret);
		(void)diag_set(diag, 0, "%s", ret->reason);
	}
	zone_source_free(meter);
	return r;
}

/* A model of another machine has a wider bound, or is refused, also where it is the only one. */
static void test_whose_machine_a_model_is_of(void **state)
{
	struct model_state known;
	struct diag diag = { "" };

	assert_int_equal(judge(NAMED("\"processor\": \"intel_xeon_gold_6330\", ",
				     "\"mape_percent\": 5, \"bound_w\": 4"),
			       false, 0, &known, &diag),
			 0);
	assert_true(fabs(known.error_w - 4) < 1e-9);
	assert_int_equal(judge(NAMED("\"processor\": \"intel_xeon_platinum_8380\", ",
				     "\"mape_percent\": 5, \"bound_w\": 4"),
			       false, 0, &known, &diag),
			 0);
	assert_true(known.error_w > 15);
	assert_non_null(strstr(diag.text, "same family (\"intel_xeon_platinum_8380\")"));
	assert_int_equal(judge(NAMED("\"processor\": \"amd_epyc_7763\", ",
				     "\"mape_percent\": 5, \"bound_w\": 4"),
			       false, 0, &known, &diag),
			 -ERANGE);
	assert_non_null(strstr(diag.text, "at most 50 % are accepted"));
	assert_int_equal(
		judge(NAMED("", "\"mape_percent\": 5, \"bound_w\": 4"), false, 0, &known, &diag),
		0);
	assert_true(isnan(known.error_w));
	/* Only its mean error is known. */
	assert_int_equal(judge(NAMED("\"processor\": \"intel_xeon_gold_6330\", ", "\"mae_w\": 3"),
			       false, 0, &known, &diag),
			 0);
	assert_true(fabs(known.error_w - 3 * 2.06) < 1e-9);
}

/* One that is fetched does not take the place of an estimate that is expected to be better. */
static void test_a_better_estimate_that_is_built_in(void **state)
{
	struct model_state known;
	struct diag diag = { "" };
	const char *text = NAMED("\"processor\": \"intel_xeon_platinum_8380\", ",
				 "\"mape_percent\": 5, \"bound_w\": 4");

	assert_int_equal(judge(text, true, 0.1, &known, &diag), -ERANGE);
	assert_non_null(
		strstr(diag.text, "the built-in model, whose expected error is 10 %, stays"));
	assert_int_equal(judge(text, true, 0.4, &known, &diag), 0);
	assert_int_equal(judge(text, false, 0.1, &known, &diag), 0);
}

static void test_dynamic_models_are_for_virtual_machines(void **state)
{
	static const char text[] = MODEL("DynPower", "4", COMPONENT("package", TIME, "0, 80"));
	const struct model_estimate_options real = { .cpus = 4 };
	const struct model_estimate_options virtual = { .cpus = 4, .is_vm = true };
	struct zone_source *meter = meter_of(&real);
	struct energy_span span;
	struct diag diag = { "" };

	assert_int_equal(add(meter, text, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "has no idle power"));
	zone_source_free(meter);
	meter = meter_with(&virtual, text);
	assert_true(pass(meter, 10, 0, &span));
	assert_true(pass(meter, 11, 2000, &span));
	assert_int_equal(span.energy_uj, 40 * UJ_PER_J);
	zone_source_free(meter);
}

static void test_only_what_nothing_measures(void **state)
{
	struct model_estimate_options options = { .cpus = 4 };
	struct zone_source *meter;
	struct diag diag = { "" };

	options.is_measured[ZONE_PACKAGE] = true;
	meter = meter_of(&options);
	assert_int_equal(add(meter, PACKAGE, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "is measured here"));
	assert_int_equal(
		add(meter,
		    MODEL("AbsPower", "4",
			  COMPONENT("package", TIME, "20, 80") "," COMPONENT(
				  "dram", TIME,
				  "3, 4") "," COMPONENT("core", TIME,
							"0, 0") "," COMPONENT("wheel", TIME,
									      "1, 1")),
		    &diag),
		0);
	assert_int_equal(zone_source_count(meter), 1); /* core is always 0: absent */
	assert_int_equal(zone_source_zone(meter, 0)->kind, ZONE_DRAM);
	assert_int_equal(add_at(meter, &second_place,
				MODEL("AbsPower", "4", COMPONENT("dram", TIME, "9, 9")), &diag),
			 -ENOENT);
	zone_source_free(meter);
}

#define CYCLES MODEL("AbsPower", "4", COMPONENT("package", FEATURE("cpu_cycles", "1e10"), "20, 80"))

/* An interval without the signal gives no span; the next one covers it. */
static void test_signals(void **state)
{
	struct model_estimate_options options = { .cpus = 4 };
	struct node_work work = { .time_ns = NSEC_PER_SEC };
	struct zone_source *meter = meter_of(&options);
	struct energy_span span;
	struct diag diag = { "" };

	assert_int_equal(add(meter, CYCLES, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "needs the feature \"cpu_cycles\""));
	zone_source_free(meter);
	options.signals = SIGNAL_BIT(SIGNAL_CPU_CYCLES);
	meter = meter_with(&options, CYCLES);
	zone_source_feed(meter, &work);
	assert_true(zone_source_advance(meter, 0, &span));
	work.time_ns = 2 * NSEC_PER_SEC;
	zone_source_feed(meter, &work);
	assert_false(zone_source_advance(meter, 0, &span));
	work.time_ns = 3 * NSEC_PER_SEC;
	work.signals = options.signals;
	work.amount[SIGNAL_CPU_CYCLES] = 5000000000;
	zone_source_feed(meter, &work);
	assert_true(zone_source_advance(meter, 0, &span));
	assert_int_equal(span.energy_uj, 2 * 60 * UJ_PER_J);
	zone_source_free(meter);
}

/* One second of counters does not estimate the hour before it, in which there were none. */
static void test_a_long_hole_is_not_bridged(void **state)
{
	const struct model_estimate_options options = { .cpus = 4,
							.signals = SIGNAL_BIT(SIGNAL_CPU_CYCLES) };
	struct node_work work = { .time_ns = NSEC_PER_SEC, .signals = options.signals };
	struct zone_source *meter = meter_with(&options, CYCLES);
	struct energy_span span;

	zone_source_feed(meter, &work);
	assert_true(zone_source_advance(meter, 0, &span));
	work.signals = 0;
	for (; work.time_ns < 3600 * NSEC_PER_SEC; work.time_ns += NSEC_PER_SEC)
		zone_source_feed(meter, &work);
	work.signals = options.signals;
	work.amount[SIGNAL_CPU_CYCLES] = 5000000000;
	zone_source_feed(meter, &work);
	assert_true(zone_source_advance(meter, 0, &span));
	assert_false(span.known);
	assert_int_equal(span.energy_uj, 0);
	work.time_ns += NSEC_PER_SEC; /* from here on it is known again */
	zone_source_feed(meter, &work);
	assert_true(zone_source_advance(meter, 0, &span));
	assert_true(span.known);
	assert_int_equal(span.energy_uj, 60 * UJ_PER_J);
	zone_source_free(meter);
}

#define CLOCKED                                                                                    \
	MODEL("AbsPower", "4",                                                                     \
	      COMPONENT("package",                                                                 \
			TIME ", {\"name\": \"cpu_scaling_frequency_hertz\", \"scale\": 1e9, "      \
			     "\"minimum\": 1e9, \"maximum\": 3e9}",                                \
			"20, 80, 10"))

/* A frequency is the same on a machine of half the size; idle power is that at the lowest one. */
static void test_a_frequency_is_not_a_rate(void **state)
{
	const struct model_estimate_options options = { .cpus = 2,
							.signals =
								SIGNAL_BIT(SIGNAL_FREQUENCY_TIME) };
	const struct model_estimate_options without = { .cpus = 2 };
	struct zone_source *meter = meter_with(&options, CLOCKED);
	struct node_work work = { .time_ns = NSEC_PER_SEC,
				  .signals = options.signals,
				  .mean_khz = 2500000 };
	struct energy_span span;
	struct diag diag = { "" };

	zone_source_feed(meter, &work);
	assert_true(zone_source_advance(meter, 0, &span));
	work.time_ns = 3 * NSEC_PER_SEC;
	work.busy_ns = 2 * NSEC_PER_SEC; /* one of two CPUs */
	zone_source_feed(meter, &work);
	assert_true(zone_source_advance(meter, 0, &span));
	assert_int_equal(span.energy_uj, (20 + 40 + 25) * UJ_PER_J); /* half of it, two seconds */
	assert_int_equal(span.idle_uj, (20 + 10) * UJ_PER_J);
	zone_source_free(meter);
	meter = meter_of(&without);
	assert_int_equal(add(meter, CLOCKED, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "cpu_scaling_frequency_hertz"));
	zone_source_free(meter);
}

#define MEAN_OVER(seconds) FEATURE("bpf_cpu_time_ms_mean_" seconds "s", "4000")
#define MEAN               MEAN_OVER("30")
/* 80 W for what runs now, 40 W less after a long time of it. */
#define TURBO MODEL("AbsPower", "4", COMPONENT("package", TIME ", " MEAN, "20, 80, -40"))

/* 30 s after a step, the mean has reached 1 - 1/e of it. */
static void test_turbo_ends(void **state)
{
	const struct model_estimate_options options = { .cpus = 4 };
	struct zone_source *meter = meter_with(&options, TURBO);
	double full_w = 100, mean = 0;
	struct energy_span span;

	assert_true(pass(meter, 10, 0, &span));
	assert_true(pass(meter, 20, 0, &span));
	assert_int_equal(span.energy_uj, 10 * 20 * UJ_PER_J);
	for (unsigned second = 25; second <= 50; second += 5) {
		assert_true(pass(meter, second, 5 * 4000, &span));
		mean = 1 - exp(-((double)second - 20) / 30);
		assert_true(fabs((double)span.energy_uj / 5e6 - (full_w - 40 * mean)) < 1e-5);
	}
	assert_true(fabs(mean - (1 - exp(-1))) < 1e-12);
	zone_source_free(meter);
}

/* A newer model with the same mean goes on with it; a mean that is new begins at what runs. */
static void test_means_outlive_their_model(void **state)
{
	const struct model_estimate_options options = { .cpus = 4 };
	struct zone_source *meter = meter_with(&options, TURBO);
	struct energy_span span;
	struct diag diag;

	assert_true(pass(meter, 10, 0, &span));
	assert_true(pass(meter, 20, 0, &span));
	assert_true(pass(meter, 50, 30 * 4000, &span));
	assert_int_equal(replace(meter, &first_place, TURBO, &diag), 0);
	assert_true(pass(meter, 80, 30 * 4000, &span));
	assert_true(fabs((double)span.energy_uj / 30e6 - (100 - 40 * (1 - exp(-2)))) < 1e-5);
	assert_int_equal(replace(meter, &first_place, PACKAGE, &diag), 0);
	assert_int_equal(replace(meter, &first_place, TURBO, &diag), 0);
	assert_true(pass(meter, 110, 30 * 4000, &span));
	assert_true(fabs((double)span.energy_uj / 30e6 - 60) < 1e-5);
	zone_source_free(meter);
}

static void test_means_that_are_refused(void **state)
{
	static const char too_many[] =
		MODEL("AbsPower", "4",
		      COMPONENT("package",
				MEAN_OVER("1") ", " MEAN_OVER("2") ", " MEAN_OVER(
					"3") ", " MEAN_OVER("4") ", " MEAN_OVER("5"),
				"20, 1, 1, 1, 1, 1"));
	static const char not_counted[] =
		MODEL("AbsPower", "4",
		      COMPONENT("package", FEATURE("cpu_cycles_mean_30s", "4000"), "20, 80"));
	const struct model_estimate_options options = { .cpus = 4 };
	struct zone_source *meter = meter_of(&options);
	struct diag diag;

	assert_int_equal(add(meter, too_many, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "more than 4 recent means"));
	assert_int_equal(add(meter, not_counted, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "--counters.switches"));
	zone_source_free(meter);
}

/* Neighbours are assumed to have done the same kind of work, for as long. */
static void test_means_in_a_virtual_machine(void **state)
{
	static const char dynamic[] =
		MODEL("DynPower", "4", COMPONENT("package", TIME ", " MEAN, "0, 80, -40"));
	const struct model_estimate_options options = {
		.cpus = 2, .is_vm = true, .machine = { .processor = "p", .cores = 4 }
	};
	struct zone_source *meter = meter_with(&options, dynamic);
	struct energy_span span;

	assert_true(pass(meter, 10, 0, &span));
	assert_true(pass(meter, 40, 0, &span));
	assert_true(pass(meter, 70, 30 * 1000, &span));
	assert_true(fabs((double)span.energy_uj / 30e6 - (20 - 10 * (1 - exp(-1)))) < 1e-5);
	zone_source_free(meter);
}

#define WAITING                                                                                    \
	MODEL("DynPower", "4",                                                                     \
	      COMPONENT("package",                                                                 \
			TIME ", {\"name\": \"cpu_steal_seconds\", \"scale\": 1, "                  \
			     "\"minimum\": 0, \"maximum\": 4}",                                    \
			"0, 80, 10"))

/* A guest of two vCPUs, whose waiting grows with its host as its work does. */
static void test_stolen_time_is_a_rate(void **state)
{
	const struct model_estimate_options options = { .cpus = 2,
							.is_vm = true,
							.signals = WORK_SIGNAL_WAITED };
	const struct model_estimate_options without = { .cpus = 2, .is_vm = true };
	struct zone_source *meter = meter_with(&options, WAITING);
	struct node_work work = { .time_ns = NSEC_PER_SEC, .signals = options.signals };
	struct energy_span span;
	struct diag diag = { "" };

	zone_source_feed(meter, &work);
	assert_true(zone_source_advance(meter, 0, &span));
	work.time_ns = 3 * NSEC_PER_SEC;
	work.busy_ns = 2 * NSEC_PER_SEC; /* one of two CPUs */
	work.waited_ns = NSEC_PER_SEC;   /* half a second a second */
	zone_source_feed(meter, &work);
	assert_true(zone_source_advance(meter, 0, &span));
	assert_int_equal(span.energy_uj, 2 * (20 + 5) * UJ_PER_J);
	work.time_ns = 4 * NSEC_PER_SEC;
	work.signals = 0; /* the account could not be read */
	zone_source_feed(meter, &work);
	assert_false(zone_source_advance(meter, 0, &span));
	zone_source_free(meter);
	meter = meter_of(&without);
	assert_int_equal(add(meter, WAITING, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "cpu_steal_seconds"));
	zone_source_free(meter);
}

static void test_outside_what_the_model_has_seen(void **state)
{
	const struct model_estimate_options options = { .cpus = 4 };
	struct zone_source *meter = meter_with(&options, PACKAGE);
	struct model_state known;
	struct energy_span span;

	zone_source_state(meter, 0, &known);
	assert_true(!known.has_estimate && isnan(known.error_w));
	assert_true(pass(meter, 10, 0, &span));
	assert_true(pass(meter, 11, 6000, &span));
	assert_int_equal(span.energy_uj, 108 * UJ_PER_J); /* at the edge, a tenth further */
	zone_source_state(meter, 0, &known);
	assert_true(known.outside && known.error_w > 8);
	zone_source_free(meter);
}

/* A third of a microjoule is left of each interval; the sums go on across the change. */
static void test_a_newer_model_continues_the_counters(void **state)
{
	static const char newer[] =
		MODEL("AbsPower", "4",
		      COMPONENT("dram", TIME, "1, 1") "," COMPONENT("package", TIME, "40, 80"));
	const struct model_estimate_options options = { .cpus = 4 };
	struct zone_source *meter = meter_with(&options, PACKAGE);
	uint64_t energy_uj = 0, idle_uj = 0;
	struct model_state known;
	struct energy_span span;
	struct diag diag = { "" };

	for (unsigned second = 10; second <= 20; second++) {
		if (second == 15)
			assert_int_equal(replace(meter, &first_place, newer, &diag), 0);
		if (second == 15) {
			zone_source_state(meter, 0, &known);
			assert_true(known.changes == 1 && isnan(known.error_w));
		}
		assert_true(pass(meter, second, second == 10 ? 0 : 2000, &span));
		energy_uj += span.energy_uj;
		idle_uj += span.idle_uj;
		assert_int_equal(span.from_ns, second == 10 ? 0 : (second - 1) * NSEC_PER_SEC);
	}
	assert_int_equal(energy_uj, (4 * 60 + 6 * 80) * UJ_PER_J);
	assert_int_equal(idle_uj, (4 * 20 + 6 * 40) * UJ_PER_J);
	assert_int_equal(zone_source_count(meter), 1); /* of dram nothing was estimated before */
	assert_string_equal(zone_source_zone(meter, 0)->path, "m");
	zone_source_state(meter, 0, &known);
	assert_true(fabs(known.error_w - 4) < 1e-9);
	zone_source_free(meter);
}

static void test_a_model_that_cannot_take_over_changes_nothing(void **state)
{
	static const char *const bad[] = {
		MODEL("AbsPower", "4", COMPONENT("dram", TIME, "1, 1")),
		MODEL("DynPower", "4", COMPONENT("package", TIME, "0, 80")),
		MODEL("AbsPower", "4", COMPONENT("package", TIME, "0, 0")),
		MODEL("AbsPower", "4", COMPONENT("package", FEATURE("cpu_cycles", "1"), "1, 1")),
	};
	const struct model_estimate_options options = { .cpus = 4 };
	struct zone_source *meter = meter_with(&options, PACKAGE);
	struct model_state known;
	struct energy_span span;
	struct diag diag = { "" };

	assert_true(pass(meter, 10, 0, &span));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(replace(meter, &first_place, bad[i], &diag), -ENOENT);
	assert_int_equal(replace(meter, &second_place, bad[0], &diag), 0); /* a zone more */
	assert_int_equal(zone_source_count(meter), 2);
	assert_true(pass(meter, 11, 2000, &span));
	assert_int_equal(span.energy_uj, 60 * UJ_PER_J);
	zone_source_state(meter, 0, &known);
	assert_int_equal(known.changes, 0);
	zone_source_free(meter);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_and_dynamic_power),
		cmocka_unit_test(test_a_machine_of_another_size),
		cmocka_unit_test(test_a_virtual_machine_has_no_idle_power),
		cmocka_unit_test(test_a_part_of_a_host_that_bends),
		cmocka_unit_test(test_a_model_is_less_sure_of_a_full_host),
		cmocka_unit_test(test_a_part_of_a_full_host),
		cmocka_unit_test(test_whose_machine_a_model_is_of),
		cmocka_unit_test(test_a_better_estimate_that_is_built_in),
		cmocka_unit_test(test_dynamic_models_are_for_virtual_machines),
		cmocka_unit_test(test_only_what_nothing_measures),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_a_long_hole_is_not_bridged),
		cmocka_unit_test(test_a_frequency_is_not_a_rate),
		cmocka_unit_test(test_turbo_ends),
		cmocka_unit_test(test_means_outlive_their_model),
		cmocka_unit_test(test_means_that_are_refused),
		cmocka_unit_test(test_means_in_a_virtual_machine),
		cmocka_unit_test(test_stolen_time_is_a_rate),
		cmocka_unit_test(test_outside_what_the_model_has_seen),
		cmocka_unit_test(test_a_newer_model_continues_the_counters),
		cmocka_unit_test(test_a_model_that_cannot_take_over_changes_nothing),
	};

	return unit_run(tests);
}
