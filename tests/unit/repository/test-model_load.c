// SPDX-License-Identifier: Apache-2.0
#include "repository/model_load.h"

#include "model_tree.h"
#include "tests/unit/unit.h"

#define GROUP   "ec2/rapl-sysfs/AbsPower/BPFOnly/"
#define WEIGHTS GROUP "SGDRegressorTrainer_3.json"
#define TREES   GROUP "XgboostFitTrainer_3.zip"

static struct repository *open_tree(const struct model_tree *tree)
{
	struct repository *repository = NULL;

	assert_int_equal(repository_open(tree->path, &repository, NULL), 0);
	return repository;
}

static const struct model_entry *entry_of(const struct repository *repository, const char *name)
{
	for (size_t i = 0; i < repository->entry_count; i++)
		if (strcmp(repository->entries[i].name, name) == 0)
			return &repository->entries[i];
	fail_msg("no model %s", name);
	return NULL;
}

static double watts_at(const struct trained_model *model, double cpu_time_ms)
{
	static const char *const names[] = { "bpf_page_cache_hit", "bpf_cpu_time_ms" };
	const double values[] = { 0, cpu_time_ms };
	struct model_columns columns;
	struct model_answer answer;

	assert_int_equal(trained_model_bind(model, 0, names, 2, &columns, NULL), 0);
	trained_model_predict(model, 0, &columns, values, &answer);
	return answer.watts;
}

static void weights_predict(void **state)
{
	struct trained_model model;
	struct repository *repository;

	model_tree_put_text(*state, WEIGHTS, model_tree_weights);
	repository = open_tree(*state);
	assert_int_equal(model_load(repository, &repository->entries[0], &model, NULL), 0);
	assert_string_equal(model.name, "SGDRegressorTrainer_3");
	assert_int_equal(model.node_type, 3);
	assert_true(fabs(watts_at(&model, 500) - 20) < 1e-6);
	trained_model_release(&model);
	repository_free(repository);
}

/* The scale belongs to the weights next to it: 1000 ms, so that the step is at 500. */
static void trees_take_the_scale_of_weights(void **state)
{
	struct trained_model model;
	struct repository *repository;

	model_tree_put_text(*state, WEIGHTS, model_tree_weights);
	model_tree_put_trees(*state, TREES, "XgboostFitTrainer_3", 10, 20);
	repository = open_tree(*state);
	assert_int_equal(
		model_load(repository, entry_of(repository, "XgboostFitTrainer_3"), &model, NULL),
		0);
	assert_string_equal(model.components[0].name, "package");
	assert_true(fabs(model.components[0].error.mae_w - 4.5) < 1e-9);
	assert_true(fabs(watts_at(&model, 499) - 10) < 1e-4);
	assert_true(fabs(watts_at(&model, 501) - 20) < 1e-4);
	trained_model_release(&model);
	repository_free(repository);
}

static void assert_unusable(const struct repository *repository, const char *name, const char *why)
{
	struct trained_model model;
	struct diag diag = { "" };

	assert_int_equal(model_load(repository, entry_of(repository, name), &model, &diag),
			 -EINVAL);
	assert_non_null(strstr(diag.text, why));
}

static void trees_without_a_scale_are_refused(void **state)
{
	struct repository *repository;

	/* Weights of another node type have another scale. */
	model_tree_put_text(*state, GROUP "SGDRegressorTrainer_4.json", model_tree_weights);
	model_tree_put_trees(*state, TREES, "XgboostFitTrainer_3", 10, 20);
	repository = open_tree(*state);
	assert_unusable(repository, "XgboostFitTrainer_3", "the scale is in a pickle");
	repository_free(repository);
}

static void models_that_mislead_are_refused(void **state)
{
	struct repository *repository;

	model_tree_put_text(*state, WEIGHTS, model_tree_weights);
	model_tree_put_trees(*state, TREES, "XgboostFitTrainer_3", 20, 10);
	repository = open_tree(*state);
	assert_unusable(repository, "XgboostFitTrainer_3", "falls");
	repository_free(repository);
}

static void pickles_are_never_loaded(void **state)
{
	struct repository *repository;

	model_tree_put_text(*state, GROUP "KNeighborsRegressorTrainer_3.zip", "PK");
	repository = open_tree(*state);
	assert_unusable(repository, "KNeighborsRegressorTrainer_3",
			"a pickle, which is never loaded");
	repository_free(repository);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(weights_predict, model_tree_new, model_tree_free),
		cmocka_unit_test_setup_teardown(trees_take_the_scale_of_weights, model_tree_new,
						model_tree_free),
		cmocka_unit_test_setup_teardown(trees_without_a_scale_are_refused, model_tree_new,
						model_tree_free),
		cmocka_unit_test_setup_teardown(models_that_mislead_are_refused, model_tree_new,
						model_tree_free),
		cmocka_unit_test_setup_teardown(pickles_are_never_loaded, model_tree_new,
						model_tree_free),
	};

	return unit_run(tests);
}
