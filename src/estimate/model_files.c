// SPDX-License-Identifier: Apache-2.0
#include "estimate/model_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "estimate/component_estimate.h"
#include "estimate/model_choice.h"
#include "model/component_power.h"
#include "model/platform_power.h"

/* The hash of a file that cannot be read. */
#define MISSING 1

static void set_measured(const struct model_surroundings *around, bool *is_measured)
{
	for (size_t z = 0; around->meters && z < meter_table_count(around->meters); z++)
		is_measured[meter_table_zone(around->meters, z)->kind] = true;
}

/* The mean errors of machines that the models that are built in have never seen. */
static void set_builtin_errors(const struct config *config, double *errors)
{
	static const enum zone_kind kinds[COMPONENT_COUNT] = {
		[COMPONENT_PACKAGE] = ZONE_PACKAGE,
		[COMPONENT_DRAM] = ZONE_DRAM,
	};

	errors[ZONE_PLATFORM] = platform_power_model.loo_mape_percent / 100;
	for (enum component c = 0; c < COMPONENT_COUNT; c++) {
		if ((unsigned)config->model_parts & COMPONENT_BIT(c))
			errors[kinds[c]] = builtin_component_model.mape_percent[c] / 100;
	}
}

/*
 * A kernel that has never counted stolen time may be unable to: then 0 is no measurement. Of a
 * machine that is not virtual none is stolen.
 */
static uint32_t waiting_signal(const struct model_surroundings *around, bool has_steal)
{
	return around->host->is_vm && has_steal ? WORK_SIGNAL_WAITED : 0;
}

static uint32_t counted_signals(const struct model_surroundings *around)
{
	struct activity_info info;

	activity_get_info(around->activity, &info);
	return (info.counts_switches ? info.signals : 0) | info.io.signals |
	       waiting_signal(around, info.has_steal) |
	       (around->has_frequency ? SIGNAL_BIT(SIGNAL_FREQUENCY_TIME) : 0);
}

static bool is_same(const struct model_stamp *a, const struct model_stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns;
}

static int take_stamp(const char *path, struct model_stamp *ret)
{
	struct stat st;

	*ret = (struct model_stamp){ 0 };
	if (stat(path, &st) < 0)
		return -errno;
	ret->device = st.st_dev;
	ret->inode = st.st_ino;
	ret->size = (uint64_t)st.st_size;
	ret->mtime_ns = (int64_t)st.st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st.st_mtim.tv_nsec;
	return 0;
}

static int parse(const char *path, const char *text, size_t len, struct trained_model *ret,
		 struct diag *diag)
{
	int r = trained_model_parse(ret, path, text, len, diag);

	if (r < 0)
		return r;
	r = trained_model_check(ret, diag);
	if (r < 0)
		trained_model_release(ret);
	return r < 0 ? r : 1;
}

/* The stamp is taken before the content is read: a change in between is seen by the next look. */
int model_files_read(const char *path, struct model_stamp *stamp, struct trained_model *ret,
		     struct diag *diag)
{
	const struct model_stamp known = *stamp;
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	int r = take_stamp(path, stamp);

	if (r == 0 && is_same(stamp, &known)) {
		*stamp = known;
		return 0;
	}
	if (r == 0)
		r = read_file_alloc(path, MODEL_FILE_MAX, &text, &len);
	if (r < 0) {
		*stamp = (struct model_stamp){ .hash = MISSING };
		return known.hash == MISSING ? r
					     : diag_set(diag, r, "%s: cannot be read: %s", path,
							strerrordesc_np(-r));
	}
	stamp->hash = hash64_bytes(HASH64_START, text, len);
	if (stamp->hash == known.hash)
		return 0;
	return parse(path, text, len, ret, diag);
}

void model_files_place(const struct model_files *files, size_t index, struct model_place *ret)
{
	const char *path = files->paths[index], *slash = strrchr(path, '/');

	*ret = (struct model_place){ (unsigned)index, slash && slash[1] ? slash + 1 : path, false };
}

static void refuse(struct model_files *files, size_t index)
{
	files->is_bad[index] = true;
	log_warn("--model.file=%s is not used: %s", files->paths[index], files->refused.text);
}

/* A component of a model that is used may be left out as too far off on this machine. */
static void add_file(struct model_files *files, size_t index, const struct model_place *place,
		     struct trained_model *model, uint32_t parts, struct zone_source *meter)
{
	struct diag diag = { "" };
	int r = model_estimate_add(meter, place, model, parts, &diag);

	if (r == 0)
		model_choice_log(meter, place->path);
	if (!diag.text[0])
		return;
	files->refused = diag;
	if (r < 0)
		refuse(files, index);
	else
		log_warn("--model.file=%s is used in part: %s", files->paths[index], diag.text);
}

static void add_files(struct model_files *files, const struct host_info *host,
		      struct zone_source *meter)
{
	struct trained_model models[CONFIG_MODELS_MAX] = { 0 };
	uint32_t parts[CONFIG_MODELS_MAX];
	struct model_place place;

	for (size_t i = 0; i < files->count; i++) {
		if (model_files_read(files->paths[i], &files->stamps[i], &models[i],
				     &files->refused) < 0) {
			refuse(files, i);
			models[i] = (struct trained_model){ 0 };
		}
	}
	model_choice_make(models, files->count, host, meter, parts, &files->chosen);
	for (size_t i = 0; i < files->count; i++) {
		model_files_place(files, i, &place);
		files->is_spare[i] = !parts[i] && models[i].component_count;
		if (parts[i])
			add_file(files, i, &place, &models[i], parts[i], meter);
		trained_model_release(&models[i]); /* one that is added is empty here */
	}
}

void model_files_release(struct model_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->paths[i]);
	*files = (struct model_files){ 0 };
}

int model_files_open(const struct config *config, const struct model_surroundings *around,
		     struct zone_source **ret, struct model_files *files)
{
	struct model_estimate_options options = {
		.cpus = around->host->cpus,
		.is_vm = around->host->is_vm,
		.vm = { around->host->vm_host_cpus, around->host->vm_load_low,
			around->host->vm_load_high },
	};
	struct zone_source *meter = NULL;
	int r;

	if (config->model_file_count == 0 && !config->model_url[0])
		return 0;
	options.signals = counted_signals(around);
	set_measured(around, options.is_measured);
	set_builtin_errors(config, options.builtin_error);
	model_choice_machine(around->host, &options.machine);
	r = model_estimate_new(&options, &meter);
	if (r < 0)
		return r;
	for (; files->count < config->model_file_count; files->count++) {
		files->paths[files->count] = strdup(config->model_files[files->count]);
		if (!files->paths[files->count]) {
			model_files_release(files);
			zone_source_free(meter);
			return -ENOMEM;
		}
	}
	add_files(files, around->host, meter);
	*ret = meter;
	return 0;
}
