// SPDX-License-Identifier: Apache-2.0
#include "model_tree.h"

#include "base/file.h"
#include "base/strbuf.h"
#include "repository/archive.h"
#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

const char model_tree_weights[] =
	"{\"package\": {\"All_Weights\": {\"Bias_Weight\": 10, \"Categorical_Variables\": {},"
	" \"Numerical_Variables\": {\"bpf_cpu_time_ms\": {\"scale\": 1000, \"weight\": 20},"
	" \"bpf_page_cache_hit\": {\"scale\": 1, \"weight\": 0}}}}}";
const char model_tree_table_head[] =
	",Unnamed: 0,model_name,model_class,model_file,features,fe_files,output_type,mae,mape,"
	"package_mae,package_mape,trainer,node_type,feature_group\n";

int model_tree_new(void **state)
{
	struct model_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return -1;
	(void)snprintf(tree->path, sizeof(tree->path), "/tmp/model-tree-XXXXXX");
	*state = tree;
	return mkdtemp(tree->path) ? 0 : -1;
}

int model_tree_free(void **state)
{
	struct model_tree *tree = *state;
	int r = remove_tree(tree->path);

	free(tree);
	return r;
}

void model_tree_put(const struct model_tree *tree, const char *file, const void *data, size_t len)
{
	char path[512];

	assert_int_equal(path_join(path, sizeof(path), tree->path, file), 0);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0755); /* it may exist */
		*slash = '/';
	}
	assert_int_equal(write_file_atomic(path, data, len, 0644), 0);
}

void model_tree_put_text(const struct model_tree *tree, const char *file, const char *text)
{
	model_tree_put(tree, file, text, strlen(text));
}

void model_tree_put_trees(const struct model_tree *tree, const char *file, const char *name,
			  double low, double high)
{
	struct strbuf parts = STRBUF_INIT, trees = STRBUF_INIT, metadata = STRBUF_INIT;
	struct strbuf bytes = STRBUF_INIT;
	char parts_name[64];
	struct archive_file files[3];

	(void)snprintf(parts_name, sizeof(parts_name), "%s.json", name);
	strbuf_addf(&metadata,
		    "{\"model_name\": \"%s\", \"model_class\": \"xgboost\", \"mae\": 4.5, "
		    "\"mape\": 2, \"package_mae\": 4.5, \"package_mape\": 3, \"features\": "
		    "[\"bpf_cpu_time_ms\", \"bpf_page_cache_hit\"]}",
		    name);
	strbuf_add_str(&parts, "{\"package\": {\"model_file\": \"package.json\", \"features\": "
			       "[\"bpf_cpu_time_ms\", \"bpf_page_cache_hit\"], \"fe_files\": "
			       "[\"scaler.pkl\"]}}");
	strbuf_addf(&trees,
		    "{\"learner\": {\"objective\": {\"name\": \"reg:squarederror\"}, "
		    "\"learner_model_param\": {\"num_feature\": \"2\", \"num_class\": \"0\", "
		    "\"base_score\": \"0\"}, \"gradient_booster\": {\"name\": \"gbtree\", "
		    "\"model\": {\"trees\": [{\"left_children\": [1, -1, -1], "
		    "\"right_children\": [2, -1, -1], \"split_indices\": [0, 0, 0], "
		    "\"split_conditions\": [0.5, %g, %g], \"default_left\": [1, 0, 0]}]}}}, "
		    "\"version\": [1, 7, 4]}",
		    low, high);
	files[0] = (struct archive_file){ "metadata.json", metadata.data, metadata.len };
	files[1] = (struct archive_file){ parts_name, parts.data, parts.len };
	files[2] = (struct archive_file){ "package.json", trees.data, trees.len };
	assert_int_equal(archive_write(files, 3, &bytes), 0);
	model_tree_put(tree, file, bytes.data, bytes.len);
	strbuf_release(&parts);
	strbuf_release(&trees);
	strbuf_release(&metadata);
	strbuf_release(&bytes);
}
