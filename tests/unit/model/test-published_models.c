// SPDX-License-Identifier: Apache-2.0
/*
 * All models that upstream has published, as far as they are in ../shared/data next to the checkout
 * (or in the folder that KEPLER_SHARED names): each is read, or refused with the reason; boosters
 * predict what libxgboost does.
 */
#include <fts.h>
#include <xgboost/c_api.h>
#include <zip.h>

#include "model/trained_model.h"
#include "tests/unit/unit.h"

#define GRID      200
#define TOLERANCE 1e-5 /* of the prediction */

struct tally {
	unsigned weights, means, boosters, refused_negative, refused_falling;
	double largest; /* difference to libxgboost */
};

static char folder[4096];

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

static void check(const struct trained_model *model, struct tally *tally)
{
	struct diag diag = { "" };

	if (trained_model_check(model, &diag) == 0)
		return;
	if (strstr(diag.text, "idle power of -"))
		tally->refused_negative++;
	else if (strstr(diag.text, "falls from"))
		tally->refused_falling++;
	else
		fail_msg("%s", diag.text);
}

static void read_weights(const char *path, struct tally *tally)
{
	struct trained_model model;
	struct diag diag = { "" };
	static char text[1 << 20];
	FILE *file = fopen(path, "re");
	size_t size;

	assert_non_null(file);
	size = fread(text, 1, sizeof(text), file);
	(void)fclose(file);
	if (trained_model_parse(&model, path, text, size, &diag) == 0) {
		tally->weights++;
		check(&model, tally);
		trained_model_release(&model);
	} else if (strstr(diag.text, "the mean that was subtracted")) {
		tally->means++;
	} else {
		fail_msg("%s", diag.text);
	}
}

/* A regular grid over more than the range of scaled features, without steps that splits share. */
static void compare(const struct trained_model *model, const char *text, size_t size,
		    struct tally *tally)
{
	size_t features = model->components[0].feature_count;
	static float rows[GRID * PREDICTOR_FEATURES_MAX];
	double row[PREDICTOR_FEATURES_MAX], watts;
	const float *expected;
	DMatrixHandle matrix;
	BoosterHandle booster;
	bst_ulong count;

	for (size_t i = 0; i < GRID; i++) {
		for (size_t j = 0; j < features; j++)
			rows[i * features + j] =
				1.3F * (float)((i * (2 * j + 1) * 7919) % GRID) / GRID - 0.1F;
	}
	assert_int_equal(XGDMatrixCreateFromMat(rows, GRID, features, NAN, &matrix), 0);
	assert_int_equal(XGBoosterCreate(NULL, 0, &booster), 0);
	assert_int_equal(XGBoosterLoadModelFromBuffer(booster, text, size), 0);
	assert_int_equal(XGBoosterPredict(booster, matrix, 0, 0, 0, &count, &expected), 0);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < features; j++)
			row[j] = (double)rows[i * features + j];
		watts = predictor_watts(&model->components[0].predictor, row);
		tally->largest = fmax(tally->largest,
				      fabs(watts - (double)expected[i]) / fmax(1, fabs(watts)));
	}
	XGBoosterFree(booster);
	XGDMatrixFree(matrix);
}

static void read_booster(const char *path, const char *name, const char *text, size_t size,
			 struct tally *tally)
{
	struct trained_model model;
	struct diag diag = { "" };

	if (trained_model_parse(&model, name, text, size, &diag) < 0) {
		assert_non_null(strstr(diag.text, ends_with(name, ".pkl") ? "it is a pickle"
									  : "not a known model"));
		return;
	}
	tally->boosters++;
	check(&model, tally);
	compare(&model, text, size, tally);
	if (tally->largest > TOLERANCE)
		fail_msg("%s: %s: %g off", path, name, tally->largest);
	trained_model_release(&model);
}

static void read_archive(const char *path, struct tally *tally)
{
	static char text[1 << 22];
	zip_t *archive = zip_open(path, ZIP_RDONLY, NULL);
	zip_int64_t entries, size;

	assert_non_null(archive);
	entries = zip_get_num_entries(archive, 0);
	for (zip_int64_t i = 0; i < entries; i++) {
		zip_file_t *file = zip_fopen_index(archive, (zip_uint64_t)i, 0);

		assert_non_null(file);
		size = zip_fread(file, text, sizeof(text));
		assert_true(size >= 0);
		read_booster(path, zip_get_name(archive, (zip_uint64_t)i, 0), text, (size_t)size,
			     tally);
		(void)zip_fclose(file);
	}
	zip_discard(archive);
}

static bool is_weights(const char *name)
{
	return ends_with(name, "Model.json") ||
	       (strstr(name, "Trainer_") && ends_with(name, ".json"));
}

static void test_all_published_models(void **state)
{
	char *paths[] = { folder, NULL };
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	struct tally tally = { 0 };
	const FTSENT *entry;

	assert_non_null(tree);
	while ((entry = fts_read(tree))) {
		if (entry->fts_info == FTS_F && is_weights(entry->fts_name))
			read_weights(entry->fts_path, &tally);
		else if (entry->fts_info == FTS_F && ends_with(entry->fts_name, ".zip"))
			read_archive(entry->fts_path, &tally);
	}
	(void)fts_close(tree);
	print_message("# %u weights read, %u of version 0.6 refused, %u boosters read, %g off; "
		      "unusable: %u with negative idle power, %u that fall\n",
		      tally.weights, tally.means, tally.boosters, tally.largest,
		      tally.refused_negative, tally.refused_falling);
	assert_true(tally.weights >= 30 && tally.means >= 40 && tally.boosters >= 60);
	assert_true(tally.refused_negative >= 6);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_published_models),
	};
	const char *shared = getenv("KEPLER_SHARED");

	if (!shared && argc > 1)
		shared = argv[1];
	(void)snprintf(folder, sizeof(folder), "%s/data/models", shared ? shared : "");
	if (access(folder, R_OK) < 0) {
		(void)printf("1..0 # SKIP there are no published models in %s\n", folder);
		return 0;
	}
	return unit_run(tests);
}
