// SPDX-License-Identifier: Apache-2.0
#include "repository/repository.h"

#include "model_tree.h"
#include "tests/unit/unit.h"

#define GROUP "ec2/rapl-sysfs/AbsPower/BPFOnly/"

static struct repository *open_tree(const struct model_tree *tree)
{
	struct repository *repository = NULL;
	struct diag diag = { "" };

	assert_int_equal(repository_open(tree->path, &repository, &diag), 0);
	return repository;
}

static void a_table_describes_models(void **state)
{
	const struct model_tree *tree = *state;
	struct repository *repository;
	const struct model_entry *entry;
	char table[1024];

	(void)snprintf(
		table, sizeof(table),
		"%s0,7,SGDRegressorTrainer_1,scikit,x.json,\"['bpf_cpu_time_ms', "
		"'bpf_page_cache_hit']\",[],AbsPower,33.8,6.68,33.8,21.57,SGDRegressorTrainer,"
		"1,BPFOnly\n1,8,SGDRegressorTrainer_99,scikit,,[],[],AbsPower,1,1,1,1,a,1,"
		"BPFOnly\n",
		model_tree_table_head);
	model_tree_put_text(tree, GROUP "SGDRegressorTrainer_1.json", model_tree_weights);
	model_tree_put_text(tree, "ec2/rapl-sysfs_AbsPower_model_metadata.csv", table);
	model_tree_put_text(tree, "ec2/node_type_index.json",
			    "{\"1\": {\"attrs\": {\"processor\": \"intel_x\", \"cores\": 8}}}");
	repository = open_tree(tree);
	assert_int_equal(repository->problem_count, 0);
	assert_int_equal(repository->pipeline_count, 1);
	assert_string_equal(repository->pipelines[0].name, "ec2");
	assert_int_equal(repository->entry_count, 1);
	entry = &repository->entries[0];
	assert_string_equal(entry->trainer, "SGDRegressorTrainer");
	assert_int_equal(entry->node_type, 1);
	assert_int_equal(entry->files, FILE_WEIGHTS);
	assert_true(fabs(entry->mae_w - 33.8) < 1e-9);
	/* The package's, where upstream's column has the last component's. */
	assert_true(fabs(entry->mape_percent - 21.57) < 1e-9);
	assert_string_equal(entry->features, "bpf_cpu_time_ms,bpf_page_cache_hit");
	assert_string_equal(entry->machine.processor, "intel_x");
	assert_false(entry->weights_are_bad);
	repository_free(repository);
}

static void an_archive_describes_itself(void **state)
{
	const struct model_tree *tree = *state;
	struct repository *repository;
	enum model_file file;

	model_tree_put_trees(tree, GROUP "XgboostFitTrainer_3.zip", "XgboostFitTrainer_3", 10, 20);
	repository = open_tree(tree);
	assert_int_equal(repository->entry_count, 1);
	assert_string_equal(repository->entries[0].kind, "xgboost");
	assert_true(fabs(repository->entries[0].mae_w - 4.5) < 1e-9);
	assert_ptr_equal(repository_find(repository, GROUP "XgboostFitTrainer_3.zip", &file),
			 &repository->entries[0]);
	assert_int_equal(file, FILE_ARCHIVE);
	assert_null(repository_find(repository, GROUP "XgboostFitTrainer_3.json", &file));
	repository_free(repository);
}

static void weights_that_mislead_are_marked(void **state)
{
	const struct model_tree *tree = *state;
	struct repository *repository;
	char text[512];

	(void)snprintf(text, sizeof(text), "%s", model_tree_weights);
	memcpy(strstr(text, "10,"), "-9,", 3); /* the idle power */
	model_tree_put_text(tree, GROUP "SGDRegressorTrainer_1.json", text);
	repository = open_tree(tree);
	assert_int_equal(repository->entry_count, 1);
	assert_true(repository->entries[0].weights_are_bad);
	repository_free(repository);
}

/* A power above idle may be a little below 0 at no load: that rule is for AbsPower alone. */
static void dynamic_power_may_begin_below_nothing(void **state)
{
	const struct model_tree *tree = *state;
	struct repository *repository;
	char text[512];

	(void)snprintf(text, sizeof(text), "%s", model_tree_weights);
	memcpy(strstr(text, "10,"), "-1,", 3);
	model_tree_put_text(tree, "ec2/rapl-sysfs/DynPower/BPFOnly/SGDRegressorTrainer_1.json",
			    text);
	model_tree_put_text(tree, GROUP "SGDRegressorTrainer_1.json", text);
	repository = open_tree(tree);
	assert_int_equal(repository->entry_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct model_entry *entry = &repository->entries[i];

		assert_int_equal(entry->weights_are_bad, entry->output == MODEL_ABS_POWER);
		if (entry->weights_are_bad)
			assert_non_null(
				strstr(entry->weights_fault, "gives an idle power of -1 W"));
	}
	assert_int_equal(repository->problem_count, 1);
	repository_free(repository);
}

static void what_is_broken_costs_one_model(void **state)
{
	const struct model_tree *tree = *state;
	struct repository *repository;
	char link[256];

	model_tree_put_text(tree, GROUP "SGDRegressorTrainer_1.json", model_tree_weights);
	model_tree_put_text(tree, GROUP "KNeighborsRegressorTrainer_1.zip", "PK no archive");
	model_tree_put_text(tree, GROUP "README.md", "x");
	model_tree_put_text(tree, GROUP "none.json", "{}");
	model_tree_put_text(tree, "ec2/node_type_index.json", "{");
	(void)snprintf(link, sizeof(link), "%s/" GROUP "SGDRegressorTrainer_2.json", tree->path);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	repository = open_tree(tree);
	assert_int_equal(repository->entry_count, 2); /* the archive is listed, of unknown error */
	assert_true(isnan(repository->entries[0].mae_w));
	assert_int_equal(repository->problem_count, 2);
	assert_non_null(strstr(repository->problems[0], "node_type_index.json"));
	assert_non_null(strstr(repository->problems[1], "KNeighborsRegressorTrainer_1"));
	repository_free(repository);
}

static void pipelines_are_found_below(void **state)
{
	const struct model_tree *tree = *state;
	struct repository *repository;
	char path[REPOSITORY_PATH_MAX];

	model_tree_put_text(tree, "v0.7/" GROUP "SGDRegressorTrainer_1.json", model_tree_weights);
	model_tree_put_text(tree, "v0.7/b/acpi/DynPower/BPFOnly/SGDRegressorTrainer_1.json",
			    model_tree_weights);
	repository = open_tree(tree);
	assert_int_equal(repository->pipeline_count, 2);
	assert_int_equal(repository->entry_count, 2);
	assert_int_equal(repository_path(repository, &repository->entries[1], FILE_WEIGHTS, path,
					 sizeof(path)),
			 0);
	assert_string_equal(path,
			    "v0.7/ec2/rapl-sysfs/AbsPower/BPFOnly/SGDRegressorTrainer_1.json");
	repository_free(repository);
	assert_int_equal(repository_open("/nonexistent", &repository, NULL), -ENOENT);
}

static void a_change_changes_the_fingerprint(void **state)
{
	const struct model_tree *tree = *state;
	uint64_t first, second;
	char link[sizeof(tree->path) + 8];

	model_tree_put_text(tree, GROUP "SGDRegressorTrainer_1.json", model_tree_weights);
	first = repository_fingerprint(tree->path);
	assert_int_equal(repository_fingerprint(tree->path), first);
	model_tree_put_text(tree, GROUP "SGDRegressorTrainer_1.json", "{}");
	second = repository_fingerprint(tree->path);
	assert_true(second != first);
	assert_int_equal(repository_fingerprint("/nonexistent"), 0);
	(void)snprintf(link, sizeof(link), "%s.link",
		       tree->path); /* it is opened through one, too */
	assert_int_equal(symlink(tree->path, link), 0);
	first = repository_fingerprint(link);
	model_tree_put_text(tree, GROUP "SGDRegressorTrainer_1.json", "{ }");
	second = repository_fingerprint(link);
	assert_int_equal(unlink(link), 0);
	assert_true(second != first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_table_describes_models, model_tree_new,
						model_tree_free),
		cmocka_unit_test_setup_teardown(an_archive_describes_itself, model_tree_new,
						model_tree_free),
		cmocka_unit_test_setup_teardown(weights_that_mislead_are_marked, model_tree_new,
						model_tree_free),
		cmocka_unit_test_setup_teardown(dynamic_power_may_begin_below_nothing,
						model_tree_new, model_tree_free),
		cmocka_unit_test_setup_teardown(what_is_broken_costs_one_model, model_tree_new,
						model_tree_free),
		cmocka_unit_test_setup_teardown(pipelines_are_found_below, model_tree_new,
						model_tree_free),
		cmocka_unit_test_setup_teardown(a_change_changes_the_fingerprint, model_tree_new,
						model_tree_free),
	};

	return unit_run(tests);
}
