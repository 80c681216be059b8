// SPDX-License-Identifier: Apache-2.0
/*
 * The estimate of a virtual machine, as Kepler inside makes it, without waiting for time to pass:
 * vm_guest MODEL VCPUS HOST_CPUS LOAD_LOW LOAD_HIGH [PROCESSOR]. MODEL is a file of a trained
 * model, by a path with a slash, or the name of the host's processor, for the model that is built
 * in. HOST_CPUS 0 and LOAD_HIGH 0 are unknown. PROCESSOR is the host's, as node types name it, if
 * the model's machine has another. Each line of input is an interval: its ns, the run time of
 * tasks, and what /proc/stat has counted in it as busy, idle and stolen. Each line of output has
 * the estimate in uJ, and its bound in W.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/stolen_time.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "config/vm_hints.h"
#include "estimate/model_estimate.h"
#include "estimate/platform_estimate.h"
#include "meter/meter.h"
#include "model/platform_power.h"

struct guest {
	struct host_info host;
	struct zone_source *estimate;
};

static void fail(const char *why)
{
	(void)fprintf(stderr, "vm_guest: %s\n", why);
	exit(1);
}

static double number_of(const char *text)
{
	double value;

	if (parse_double(text, &value) < 0)
		fail("no number");
	return value;
}

static void open_trained(struct guest *guest, const char *path, const char *processor)
{
	struct model_estimate_options options = {
		.cpus = guest->host.cpus,
		.is_vm = true,
		.vm = { guest->host.vm_host_cpus, guest->host.vm_load_low,
			guest->host.vm_load_high },
	};
	CLEANUP_FREE char *text = NULL;
	const struct model_place place = { 0, path };
	struct trained_model model;
	struct diag diag;
	size_t len;

	if (read_file_alloc(path, MODEL_FILE_MAX, &text, &len) < 0)
		fail(path);
	if (trained_model_parse(&model, path, text, len, &diag) < 0 ||
	    trained_model_check(&model, &diag) < 0)
		fail(diag.text);
	/* Without a processor, the guest's host is one of the model's own machines. */
	if (!processor)
		(void)snprintf(model.machine.processor, sizeof(model.machine.processor),
			       "laboratory");
	options.machine = model.machine;
	if (processor) { /* a host of that size; its memory cannot be seen from inside */
		options.machine.memory_gb = 0;
		(void)snprintf(options.machine.processor, sizeof(options.machine.processor), "%s",
			       processor);
	}
	if (model_estimate_new(&options, &guest->estimate) < 0 ||
	    model_estimate_add(guest->estimate, &place, &model, UINT32_MAX, &diag) < 0)
		fail(diag.text);
}

static void open_builtin(struct guest *guest, char *processor)
{
	char all[] = "0-1";
	const struct vm_options options = { processor, all, guest->host.vm_host_cpus };
	double low = guest->host.vm_load_low, high = guest->host.vm_load_high;

	vm_hints_apply(&options, &guest->host);
	guest->host.vm_load_low = low;
	guest->host.vm_load_high = high;
	if (platform_estimate_new(&platform_power_model, &guest->host, &guest->estimate) < 0)
		fail("no memory");
}

static bool advance(struct guest *guest, uint64_t now_ns, uint64_t busy_ns, uint64_t waited_ns,
		    struct energy_span *span, double *bound_w)
{
	const struct node_work work = { .time_ns = now_ns,
					.busy_ns = busy_ns,
					.waited_ns = waited_ns };
	struct model_state state;
	bool has_span;

	zone_source_feed(guest->estimate, &work);
	has_span = zone_source_advance(guest->estimate, 0, span);
	zone_source_state(guest->estimate, 0, &state);
	*bound_w = state.error_w;
	return has_span;
}

static void run(struct guest *guest)
{
	uint64_t dt_ns, run_ns, busy_ns, idle_ns, steal_ns;
	struct machine_time last = { .time_ns = 1, .cpus = guest->host.cpus }, now = last;
	struct energy_span span;
	double bound_w;

	(void)advance(guest, now.time_ns, 0, 0, &span, &bound_w);
	while (scanf("%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &dt_ns, &run_ns,
		     &busy_ns, &idle_ns, &steal_ns) == 5) {
		now.time_ns += dt_ns;
		now.busy_ns += busy_ns;
		now.idle_ns += idle_ns;
		now.steal_ns += steal_ns;
		run_ns -= stolen_time(&last, &now, run_ns);
		if (!advance(guest, now.time_ns, run_ns, steal_ns, &span, &bound_w))
			fail("an interval without an estimate");
		printf("%" PRIu64 " %.6f\n", span.energy_uj, bound_w);
		last = now;
	}
}

int main(int argc, char **argv)
{
	struct guest guest = { .host = { .is_vm = true } };

	if (argc != 6 && argc != 7)
		fail("MODEL VCPUS HOST_CPUS LOAD_LOW LOAD_HIGH [PROCESSOR]");
	guest.host.cpus = guest.host.cores = (unsigned)number_of(argv[2]);
	guest.host.vm_host_cpus = (unsigned)number_of(argv[3]);
	guest.host.vm_load_low = number_of(argv[4]);
	guest.host.vm_load_high = number_of(argv[5]);
	if (strchr(argv[1], '/'))
		open_trained(&guest, argv[1], argc == 7 ? argv[6] : NULL);
	else
		open_builtin(&guest, argv[1]);
	run(&guest);
	zone_source_free(guest.estimate);
	return 0;
}
