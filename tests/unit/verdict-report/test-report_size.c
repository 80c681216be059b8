// SPDX-License-Identifier: Apache-2.0
/* How large is the report of an hour? Eight zones, a sample each second, noise in each. */
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "judging/judge.h"
#include "tests/unit/unit.h"
#include "verdict-report/report_folder.h"

#define HOUR_S 3600
#define ZONES  8
#define MOST   (2U << 20)
#define PHASES 60

static uint64_t random_state = 1;

/* Uniform in -1..1 (SplitMix64). */
static double next_random(void)
{
	uint64_t z = (random_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return ldexp((double)((z ^ (z >> 31)) >> 11), -52) - 1;
}

/* Readings that come up to 2 ms late, as they do. */
static struct series *noisy(double error)
{
	struct series *series = series_new("package", "W");
	double joules = 0;

	assert_non_null(series);
	for (int i = 0; i <= HOUR_S; i++) {
		double watts = 40 + (i / 60 % 2 ? 60 : 0) + 5 * next_random();

		joules += watts * (1 + error * next_random());
		assert_int_equal(series_add_counter(series,
						    1700000000 + i + 0.001 * (1 + next_random()),
						    floor(1e6 * joules) / 1e6),
				 0);
	}
	series_finish(series);
	return series;
}

static void add_zone(struct result_list *list, int zone)
{
	struct phase phases[PHASES];
	char name[32];

	(void)snprintf(name, sizeof(name), "node/zone%d", zone);
	struct result *result = result_new(name, RESULT_ACCURACY);
	assert_non_null(result);
	result->threshold.max_error = 0.05;
	result->threshold.max_lag_s = 10;
	result->actual = noisy(0);
	result->predicted = noisy(0.02);
	for (int i = 0; i < PHASES; i++) {
		(void)snprintf(phases[i].name, sizeof(phases[i].name), "step %d", i);
		phases[i].start_s = 1700000000 + 60 * i;
		phases[i].end_s = phases[i].start_s + 60;
	}
	assert_int_equal(judge_series(result, phases, PHASES), 0);
	assert_int_equal(result_list_add(list, result), 0);
}

/* The size of all files, which are removed. */
static size_t remove_all(const char *folder)
{
	DIR *dir = opendir(folder);
	char path[PATH_MAX];
	struct stat status;
	size_t sum = 0;

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		assert_int_equal(path_join(path, sizeof(path), folder, entry->d_name), 0);
		assert_int_equal(lstat(path, &status), 0);
		if (S_ISDIR(status.st_mode)) {
			sum += remove_all(path);
			continue;
		}
		sum += (size_t)status.st_size;
		(void)unlink(path);
	}
	(void)closedir(dir);
	(void)rmdir(folder);
	return sum;
}

static void an_hour_of_eight_zones_is_at_most_two_megabytes(void **state)
{
	char folder[] = "/tmp/kepler-report-XXXXXX";
	struct result_list list = { 0 };
	struct diag diag = { "" };

	assert_non_null(mkdtemp(folder));
	for (int zone = 0; zone < ZONES; zone++)
		add_zone(&list, zone);
	const struct verdict_report report = { .results = &list,
					       .command = "kepler-validator run",
					       .version = "1.2",
					       .created = 1700003600 };
	assert_int_equal(report_folder_write(folder, &report, &diag), 0);
	size_t size = remove_all(folder);
	print_message("# %zu bytes\n", size);
	assert_true(size <= MOST);
	result_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_hour_of_eight_zones_is_at_most_two_megabytes),
	};

	return unit_run(tests);
}
