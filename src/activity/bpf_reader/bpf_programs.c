// SPDX-License-Identifier: Apache-2.0
/*
 * Sets are tried in turn: all programs; all but the walk, which kernels before 6.7 accept; then
 * each program alone, and those that were accepted together. So a start normally costs one or two
 * loads, and an unexpected refusal costs only the refused program.
 */
#include "activity/bpf_reader/bpf_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "activity/bpf_reader/bpf_refused.h"
#include "activity/bpf_reader/switch_reader.h"
#include "base/log.h"
#include "base/macro.h"
#include "bpf/kepler_work.h"

#include <kepler.skel.h>

#define RING_BYTES_DEFAULT (256U * 1024)
#define WALK_MAJOR         6 /* the first kernel with open-coded iterators over tasks */
#define WALK_MINOR         7
#define WAYS               2 /* to attach to a tracepoint: typed, and raw where that is refused */

static const struct part {
	const char *programs[WAYS];
	const char *cost; /* of its lack */
} parts[BPF_PARTS] = {
	[BPF_PART_WALK] = { { "walk" }, "threads are read by the slower iterator" },
	[BPF_PART_ITERATE] = { { "iterate" }, "many threads take several walks" },
	[BPF_PART_ENDS] = { { "ended", "ended_raw" },
			    "processes that end between two passes are missed" },
	[BPF_PART_EXITS] = { { "exiting", "exiting_raw" },
			     "tasks freed where no BPF program runs are charged without their "
			     "last run" },
	[BPF_PART_CGROUPS] = { { "cgroup_made" },
			       "work in a short-lived cgroup may lack an owner" },
	[BPF_PART_SWITCHES] = { { "switch_typed", "switch_raw" }, "only CPU time is counted" },
	[BPF_PART_THREADS] = { { "thread_made" }, "only CPU time is counted" },
	[BPF_PART_FLUSH] = { { "flush" }, "running threads are charged when they leave their CPU" },
};

/* How each part is to be loaded; -1: not at all. */
struct choice {
	int way[BPF_PARTS];
	const struct switch_reader *switches; /* NULL: those parts are not wanted */
};

__attribute__((format(printf, 2, 0))) static int log_libbpf(enum libbpf_print_level level,
							    const char *fmt, va_list ap)
{
	char line[LOG_LINE_MAX];
	int len;

	if (log_get_level() > LOG_LEVEL_DEBUG)
		return 0;
	len = vsnprintf(line, sizeof(line), fmt, ap);
	while (len > 0 && len < (int)sizeof(line) && line[len - 1] == '\n')
		line[--len] = '\0';
	log_debug("libbpf%s: %s", level == LIBBPF_WARN ? " warns" : "", line);
	return 0;
}

void bpf_programs_log(void)
{
	(void)libbpf_set_print(log_libbpf);
}

/* Order of the objects' own enum cgroup_subsys_id. */
int32_t bpf_controller_number(const char *name)
{
	static const char *const names[] = { "cpuset",     "cpu",      "cpuacct", "blkio",
					     "memory",     "devices",  "freezer", "net_cls",
					     "perf_event", "net_prio", "hugetlb", "pids" };

	for (size_t i = 0; name && i < ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return (int32_t)i;
	}
	return -1;
}

/*
 * A kernel without the walk's kfuncs makes libbpf (1.1 to 1.5) look for them in the modules' type
 * information. Listing it needs CAP_SYS_ADMIN, and a refusal fails the whole object although the
 * kfuncs are weak. libbpf searches there only once: a search for a tracepoint that no kernel has
 * takes the refusal here, and weak kfuncs then work.
 */
static void spend_module_search(struct kepler_bpf *skeleton)
{
	(void)bpf_program__set_attach_target(skeleton->progs.ended, 0, "kepler_no_such_tracepoint");
}

static void choose(struct kepler_bpf *skeleton, const struct activity_options *options,
		   const struct choice *choice)
{
	struct bpf_program *program;

	if (choice->way[BPF_PART_WALK] < 0)
		spend_module_search(skeleton);
	bpf_object__for_each_program(program, skeleton->obj)
	{
		const char *name = bpf_program__name(program);
		bool wanted = false;

		for (int part = 0; part < BPF_PARTS; part++) {
			int way = choice->way[part];

			wanted |= way >= 0 && strcmp(parts[part].programs[way], name) == 0;
		}
		(void)bpf_program__set_autoload(program, wanted);
		if (options->spoil_program && strcmp(options->spoil_program, name) == 0)
			(void)bpf_program__set_flags(program, BPF_FLAGS_REFUSED);
	}
}

static int load(const struct activity_options *options, const struct choice *choice,
		struct kepler_bpf **ret)
{
	uint32_t ring_bytes =
		options->end_buffer_bytes ? options->end_buffer_bytes : RING_BYTES_DEFAULT;
	struct kepler_bpf *skeleton = kepler_bpf__open();
	int r;

	if (!skeleton)
		return -errno;
	skeleton->rodata->cgroup_controller = bpf_controller_number(options->cgroup_controller);
	skeleton->rodata->ring_half_bytes = ring_bytes / 2;
	skeleton->rodata->has_kfuncs = choice->way[BPF_PART_WALK] >= 0;
	choose(skeleton, options, choice);
	r = bpf_map__set_max_entries(skeleton->maps.ends, ring_bytes);
	if (r == 0)
		r = switch_reader_configure(choice->switches, skeleton);
	if (r == 0)
		r = kepler_bpf__load(skeleton);
	/* Where libbpf's probe of maps that can be mapped failed it loads all, and maps nothing. */
	if (r == 0 && !skeleton->bss)
		r = -ENOMEM;
	if (r < 0) {
		kepler_bpf__destroy(skeleton);
		return r;
	}
	*ret = skeleton;
	return 0;
}

/* No other set of programs would be accepted. */
static bool is_hopeless(int err)
{
	return err == -EPERM || err == -ENOMEM || err == -ESRCH || err == -ENOSYS;
}

/* Asks the kernel if it accepts this program of a part. 0 or -errno. */
static int try_alone(const struct activity_options *options, int part, int way,
		     const struct switch_reader *switches)
{
	struct choice choice = { .switches = switches };
	struct kepler_bpf *skeleton;
	int r;

	for (int other = 0; other < BPF_PARTS; other++)
		choice.way[other] = other == part ? way : -1;
	r = load(options, &choice, &skeleton);
	if (r == 0)
		kepler_bpf__destroy(skeleton);
	return r;
}

/*
 * Leaves in @choice the programs that the kernel accepts, and in @refused the errors of the others.
 */
static void try_each(const struct activity_options *options, struct choice *choice,
		     int refused[BPF_PARTS])
{
	for (int part = 0; part < BPF_PARTS; part++) {
		if (choice->way[part] < 0)
			continue;
		for (int way = 0; way < WAYS && parts[part].programs[way]; way++) {
			int r = try_alone(options, part, way, choice->switches);

			choice->way[part] = r == 0 ? way : -1;
			if (r == 0) {
				refused[part] = 0;
				break;
			}
			refused[part] = refused[part] ? refused[part] : r;
		}
	}
}

static int load_best(const struct activity_options *options, struct choice *choice,
		     struct bpf_programs *programs)
{
	bool iterate = choice->way[BPF_PART_ITERATE] >= 0;
	int r, first = 0;

	if (choice->way[BPF_PART_WALK] >= 0) {
		r = first = load(options, choice, &programs->skeleton);
		if (r == 0 || is_hopeless(r))
			return r;
		choice->way[BPF_PART_WALK] = -1;
		programs->refused[BPF_PART_WALK] = r;
	}
	choice->way[BPF_PART_ITERATE] = 0;
	r = load(options, choice, &programs->skeleton);
	if (r == 0 || is_hopeless(r))
		return r;
	log_debug("BPF programs refused (%d), trying each alone", r);
	if (options->allow_walk)
		choice->way[BPF_PART_WALK] = 0;
	try_each(options, choice, programs->refused);
	if (choice->way[BPF_PART_WALK] >= 0 && !iterate)
		choice->way[BPF_PART_ITERATE] = -1;
	else if (choice->way[BPF_PART_WALK] < 0 && choice->way[BPF_PART_ITERATE] < 0)
		return first ? first : r;
	return load(options, choice, &programs->skeleton);
}

int bpf_programs_load(const struct activity_options *options, bool iterate,
		      const struct switch_reader *switches, struct bpf_programs *ret)
{
	const int with_switches = switches ? 0 : -1;
	struct choice choice = { .way = {
					 [BPF_PART_WALK] = options->allow_walk ? 0 : -1,
					 [BPF_PART_ITERATE] = iterate ? 0 : -1,
					 [BPF_PART_SWITCHES] = with_switches,
					 [BPF_PART_THREADS] = with_switches,
					 [BPF_PART_FLUSH] = with_switches,
				 },
				 .switches = switches };
	struct bpf_programs programs = { 0 };
	int r;

	r = load_best(options, &choice, &programs);
	if (r < 0)
		return r;
	/* Only the walk may write there, even if another process gets hold of the map. From 5.2. */
	(void)bpf_map_freeze(bpf_map__fd(programs.skeleton->maps.records));
	(void)bpf_map_freeze(bpf_map__fd(programs.skeleton->maps.works));
	for (int part = 0; part < BPF_PARTS; part++) {
		if (choice.way[part] >= 0)
			programs.parts[part] = bpf_object__find_program_by_name(
				programs.skeleton->obj, parts[part].programs[choice.way[part]]);
	}
	*ret = programs;
	return 0;
}

void bpf_programs_refuse(struct bpf_programs *programs, enum bpf_part part, int err)
{
	log_debug("BPF program %s is refused: %d", parts[part].programs[0], err);
	programs->parts[part] = NULL;
	programs->refused[part] = err;
}

/* The walk is new: on an older kernel its refusal is expected. */
static bool is_expected(enum bpf_part part)
{
	return part == BPF_PART_WALK &&
	       kernel_version_is_before(kernel_version_read(), WALK_MAJOR, WALK_MINOR);
}

unsigned int bpf_programs_refused(const struct bpf_programs *programs, char *text, size_t size)
{
	unsigned int count = 0;
	size_t len = 0;

	text[0] = '\0';
	for (int part = 0; part < BPF_PARTS; part++) {
		int err = programs->refused[part];

		if (!err || is_expected((enum bpf_part)part))
			continue;
		count++;
		if (len < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s (%s): %s",
						len ? "; " : "", parts[part].programs[0],
						strerrordesc_np(-err), parts[part].cost);
	}
	return count;
}

void bpf_programs_unload(struct bpf_programs *programs)
{
	kepler_bpf__destroy(programs->skeleton);
	*programs = (struct bpf_programs){ 0 };
}
