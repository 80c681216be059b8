// SPDX-License-Identifier: Apache-2.0
/*
 * Events are taken one at a time, because to handle one may end other connections. The thread reads
 * nothing of a guest's that it keeps, and the table of guests changes only when a snapshot arrives.
 * Processes are searched only if a virtual machine is new, or libvirt has changed one, and again,
 * ever more seldom, while the process of one is not known.
 */
#include "export/guests/guests_exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/param.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/thread.h"
#include "export/guests/guest_account.h"
#include "export/guests/guest_dialogue.h"
#include "export/guests/guest_folder.h"
#include "export/guests/guest_libvirt.h"
#include "export/guests/guest_sockets.h"
#include "export/guests/guest_vsock.h"
#include "export/push_options.h"
#include "net/http_unix.h"
#include "service/needs.h"

#define SCAN_AGAIN_NS     (1 * NSEC_PER_SEC) /* doubled each time */
#define SCAN_AGAIN_MAX_NS (32 * NSEC_PER_SEC)
#define STOP_PATIENCE_NS  (1 * NSEC_PER_SEC)
#define STACK_BYTES       (256 * 1024)

struct guests {
	struct snapshot_holder *holder;
	void (*start_thread)(void);
	uint64_t (*interval_ns)(const struct config *config);
	struct guest_account_options account;
	struct guest_table table;
	struct guest_vsock vsock;
	struct guest_sockets sockets;
	struct guest_folder folder;
	struct guest_libvirt libvirt;
	/* Copies: a thread that hangs at the end outlives the options. */
	char *sockets_folder, *guest_folder, *libvirt_folder;
	struct guest_watch wake, stop;
	int epoll_fd, proc_fd;
	uint64_t period_ns; /* atomic */
	uint64_t scan_due_ns, scan_delay_ns;
	uint64_t scanned_starts; /* machines that had started by the last scan */
	uint64_t guest_count, unpaired_count, overflows, scans; /* atomic, for the health */
	bool is_running;
	pthread_t thread;
};

/* ---- one snapshot ---- */

static void disconnect(struct guest *guest)
{
	for (size_t i = 0; i < ARRAY_SIZE(guest->streams); i++) {
		if (guest->streams[i])
			guest_stream_close(guest->streams[i]);
	}
	if (guest->dialogue)
		guest_dialogue_close(guest->dialogue);
	guest_sockets_end(guest);
}

static void end_guest(void *userdata, struct guest *guest)
{
	struct guests *guests = userdata;

	disconnect(guest);
	guest_folder_end(&guests->folder, guest);
}

static void pair(struct guests *guests, const struct snapshot *snapshot)
{
	CLEANUP_FREE struct guest_process *processes = NULL;
	ssize_t count = guest_processes_scan(guests->proc_fd, &processes);

	guest_count(&guests->scans, 1);
	if (count < 0)
		return;
	guest_libvirt_complete(&guests->libvirt, processes, (size_t)count);
	guest_table_pair(&guests->table, snapshot, processes, (size_t)count);
}

static void send_record(struct guests *guests, struct guest *guest,
			const struct passthrough_record *record)
{
	guest->record_size = passthrough_record_write(record, guest->record);
	for (size_t i = 0; i < ARRAY_SIZE(guest->streams); i++) {
		if (guest->streams[i])
			(void)guest_stream_send(guest->streams[i]);
	}
	if (guests->folder.folder[0])
		guest_folder_write(&guests->folder, guest, record);
}

static void report_to_guests(struct guests *guests, const struct snapshot *snapshot)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t boottime_ns = clock_ns(CLOCK_BOOTTIME) - (now_ns - snapshot->monotonic_ns);
	struct passthrough_record record;
	uint64_t unpaired = 0;

	for (size_t i = 0; i < guests->table.count; i++) {
		struct guest *guest = guests->table.guests[i];

		guest->connects_left = GUEST_CONNECTS;
		unpaired += guest->process.pid == 0 && !guest->has_ended;
		if (guest_account_next(guest, snapshot, &guests->account, boottime_ns, &record))
			send_record(guests, guest, &record);
		if (guest->dialogue)
			(void)guest_dialogue_begin(guest->dialogue);
		if (guests->sockets.folder[0] || guests->libvirt.folder[0])
			guest_sockets_tend(&guests->sockets, guest, now_ns);
	}
	__atomic_store_n(&guests->unpaired_count, unpaired, __ATOMIC_RELAXED);
}

static bool look_at_libvirt(struct guests *guests)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
	return guest_libvirt_look(&guests->libvirt, &now);
}

static void take_snapshot(struct guests *guests, const struct snapshot *snapshot)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	bool has_change = look_at_libvirt(guests);
	bool wants_scan = guest_table_update(&guests->table, snapshot, end_guest, guests);
	bool has_started = guests->table.starts != guests->scanned_starts;

	if (has_change || (wants_scan && (has_started || now_ns >= guests->scan_due_ns))) {
		guests->scan_delay_ns = has_started
						? SCAN_AGAIN_NS
						: MIN(2 * guests->scan_delay_ns, SCAN_AGAIN_MAX_NS);
		guests->scan_due_ns = now_ns + guests->scan_delay_ns;
		guests->scanned_starts = guests->table.starts;
		pair(guests, snapshot);
	}
	guests->account.period_ns = __atomic_load_n(&guests->period_ns, __ATOMIC_RELAXED);
	guest_vsock_begin(&guests->vsock);
	report_to_guests(guests, snapshot);
	__atomic_store_n(&guests->guest_count, guests->table.count, __ATOMIC_RELAXED);
	__atomic_store_n(&guests->overflows, guests->table.overflows, __ATOMIC_RELAXED);
}

static void handle_wake(struct guests *guests)
{
	const struct snapshot *snapshot;
	uint64_t count;

	if (read(guests->wake.fd, &count, sizeof(count)) < 0)
		return;
	snapshot = snapshot_get(guests->holder);
	if (snapshot)
		take_snapshot(guests, snapshot);
	snapshot_put(guests->holder, snapshot);
}

/* ---- the thread ---- */

/* False: the program ends. */
static bool handle(struct guests *guests, const struct epoll_event *event)
{
	struct guest_watch *watch = event->data.ptr;

	switch (watch->kind) {
	case GUEST_WATCH_WAKE:
		handle_wake(guests);
		break;
	case GUEST_WATCH_STOP:
		return false;
	case GUEST_WATCH_VSOCK:
		guest_vsock_accept(&guests->vsock, &guests->table);
		break;
	case GUEST_WATCH_DOOR:
		guest_sockets_accept(&guests->sockets, watch);
		break;
	case GUEST_WATCH_STREAM:
		(void)guest_stream_handle((void *)watch, event->events);
		break;
	case GUEST_WATCH_DIALOGUE:
		(void)guest_dialogue_handle((void *)watch, event->events);
		break;
	}
	return true;
}

static void *serve(void *userdata)
{
	struct guests *guests = userdata;
	struct epoll_event event;
	bool goes_on = true;

	(void)pthread_setname_np(pthread_self(), "passthrough");
	guests->start_thread();
	while (goes_on) {
		int count = epoll_wait(guests->epoll_fd, &event, 1, -1);

		if (count > 0)
			goes_on = handle(guests, &event);
		else if (count < 0 && errno != EINTR)
			goes_on = false;
	}
	return NULL;
}

/* ---- start and stop ---- */

static void close_all(struct guests *guests)
{
	for (size_t i = 0; i < guests->table.count; i++)
		disconnect(guests->table.guests[i]);
	guest_table_release(&guests->table);
	guest_libvirt_release(&guests->libvirt);
	guest_vsock_close(&guests->vsock);
	if (guests->stop.fd >= 0)
		(void)close(guests->stop.fd);
	if (guests->proc_fd >= 0)
		(void)close(guests->proc_fd);
	if (guests->epoll_fd >= 0)
		(void)close(guests->epoll_fd);
	free(guests->sockets_folder);
	free(guests->guest_folder);
	free(guests->libvirt_folder);
	free(guests);
}

static void stop(void *exporter)
{
	struct guests *guests = exporter;
	const uint64_t one = 1;

	if (guests->is_running) {
		(void)!write(guests->stop.fd, &one, sizeof(one));
		if (thread_join_within(guests->thread, STOP_PATIENCE_NS) < 0)
			return; /* /proc, or the disk of a guest's or libvirt's directory, hangs */
	}
	close_all(guests);
}

static bool is_wanted(const struct push_options *options)
{
	const struct passthrough_options *own = &options->passthrough;

	return own->vsock_port || own->sockets[0] || own->dir[0] || own->libvirt[0];
}

static int open_watches(struct guests *guests, struct diag *diag)
{
	int r;

	guests->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	guests->stop.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	guests->wake.fd = snapshot_wake_open(guests->holder);
	if (guests->epoll_fd < 0 || guests->stop.fd < 0 || guests->wake.fd < 0)
		return diag_set(diag, -EMFILE, "passthrough: no descriptor is left");
	r = guest_watch_add(guests->epoll_fd, &guests->wake, EPOLLIN);
	if (r == 0)
		r = guest_watch_add(guests->epoll_fd, &guests->stop, EPOLLIN);
	return r < 0 ? diag_set(diag, r, "passthrough: %s", strerrordesc_np(-r)) : 0;
}

static int open_vsock(struct guests *guests, const struct passthrough_options *options,
		      struct diag *diag)
{
	guests->vsock.epoll_fd = guests->epoll_fd;
	guests->vsock.proc_fd = guests->proc_fd;
	for (size_t i = 0; i < options->cid_count; i++) {
		int r = guest_cid_parse(options->cids[i], &guests->vsock.cids[i], diag);

		if (r < 0)
			return r;
		guests->vsock.cid_count++;
	}
	return options->vsock_port ? guest_vsock_open(&guests->vsock, options->vsock_port, diag)
				   : 0;
}

static int open_folders(struct guests *guests, const struct passthrough_options *options,
			struct diag *diag)
{
	guests->sockets_folder = strdup(options->sockets);
	guests->guest_folder = strdup(options->dir);
	guests->libvirt_folder = strdup(options->libvirt);
	if (!guests->sockets_folder || !guests->guest_folder || !guests->libvirt_folder)
		return diag_set(diag, -ENOMEM, "out of memory");
	guests->sockets.folder = guests->sockets_folder;
	guests->folder.folder = guests->guest_folder;
	guests->libvirt.folder = guests->libvirt_folder;
	return 0;
}

static int open_all(struct guests *guests, const struct exporter_program *program,
		    struct diag *diag)
{
	const struct passthrough_options *options = &program->push->passthrough;
	int r;

	guests->proc_fd = open(program->procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (guests->proc_fd < 0)
		return diag_set(diag, -errno, "passthrough: cannot open %s: %s", program->procfs,
				strerrordesc_np(errno));
	r = open_watches(guests, diag);
	if (r == 0)
		r = open_vsock(guests, options, diag);
	if (r == 0)
		r = open_folders(guests, options, diag);
	if (r < 0)
		return r;
	guest_table_init(&guests->table, "/etc/passwd");
	guests->sockets.port = options->vsock_port;
	guests->sockets.epoll_fd = guests->epoll_fd;
	guests->sockets.users = &guests->table.users;
	r = thread_start(&guests->thread, STACK_BYTES, serve, guests);
	guests->is_running = r == 0;
	return r < 0 ? diag_set(diag, r, "passthrough: cannot start a thread: %s",
				strerrordesc_np(-r))
		     : 0;
}

static int start(const struct exporter_program *program, void **ret, struct diag *diag)
{
	const struct passthrough_options *options = &program->push->passthrough;
	struct guests *guests;
	int r;

	if (!is_wanted(program->push))
		return 0;
	guests = calloc(1, sizeof(*guests));
	if (!guests)
		return diag_set(diag, -ENOMEM, "out of memory");
	*guests = (struct guests){
		.holder = program->holder,
		.start_thread = program->start_thread,
		.interval_ns = program->interval_ns,
		.period_ns = program->interval_ns(program->config),
		.account = { .idle = options->idle,
			     .resolution_uj = (uint64_t)options->resolution_uj },
		.vsock.watch.fd = -1,
		.wake = { GUEST_WATCH_WAKE, -1 },
		.stop = { GUEST_WATCH_STOP, -1 },
		.epoll_fd = -1,
		.proc_fd = -1,
	};
	r = open_all(guests, program, diag);
	if (r < 0)
		close_all(guests);
	else
		*ret = guests;
	return r;
}

static void reconfigure(void *exporter, struct config *config)
{
	struct guests *guests = exporter;

	__atomic_store_n(&guests->period_ns, guests->interval_ns(config), __ATOMIC_RELAXED);
}

static void describe(const void *exporter, char *buf, size_t size)
{
	(void)exporter;
	(void)snprintf(buf, size, "guests of this host");
}

/* ---- options and health ---- */

static int check_cid(const char *text, struct diag *diag)
{
	struct guest_cid cid;

	return guest_cid_parse(text, &cid, diag);
}

static int check_folder(const char *text, struct diag *diag)
{
	return !*text || *text == '/'
		       ? 0
		       : diag_set(diag, -EINVAL, "must be an absolute path, not \"%.80s\"", text);
}

static const struct option_choice resolutions[] = { { "1mJ", 1000 }, { "1uJ", 1 }, { 0 } };

static const struct option rows[] = {
	{ "passthrough.vsock", NULL, OPTION_U32,
	  OPTION_MEMBER(struct passthrough_options, vsock_port), OPTION_RANGE(0, UINT32_MAX - 1),
	  .default_text = "0", .metavar = "PORT",
	  .help = "Port of vsock at which virtual machines of this host receive their own energy. "
		  "The kernel identifies them by their address (CID). 0: none." },
	{ "passthrough.cid", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct passthrough_options, cids, cid_count, GUEST_CIDS_MAX),
	  .default_text = "", .metavar = "CID=ID", .check = check_cid,
	  .help = "The vm_id of the virtual machine at a vsock address that no command line shows, "
		  "such as 3=8a4c1f0e-33b7-4d19-9e5f-7c2b6a1d0e48." },
	{ "passthrough.sockets", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct passthrough_options, sockets), .default_text = "", .metavar = "DIR",
	  .may_be_empty = true, .check = check_folder,
	  .help = "Directory of the unix sockets through which virtual machines receive their own "
		  "energy: UUID.sock for a port of virtio-serial, and ID.vsock_PORT, with the port "
		  "of passthrough.vsock, for Firecracker and Cloud Hypervisor. Empty: none." },
	{ "passthrough.dir", NULL, OPTION_STRING, OPTION_MEMBER(struct passthrough_options, dir),
	  .default_text = "", .metavar = "DIR", .may_be_empty = true, .check = check_folder,
	  .help = "Directory in which each virtual machine has a directory with its own energy, to "
		  "be shared with it by virtiofs or 9p. Empty: none." },
	{ "passthrough.libvirt", NULL, OPTION_STRING,
	  OPTION_MEMBER(struct passthrough_options, libvirt), .default_text = "", .metavar = "DIR",
	  .may_be_empty = true, .check = check_folder,
	  .help = "Directory in which libvirt keeps the state of its virtual machines, "
		  "/run/libvirt/qemu. Kepler connects to their ports named io.kepler.energy.0 and "
		  "org.github.vhostmd.1, and finds vsock addresses that no command line shows. "
		  "Empty: none." },
	{ "passthrough.idle", NULL, OPTION_BOOL, OPTION_MEMBER(struct passthrough_options, idle),
	  .default_text = "false",
	  .help = "Report to virtual machines their part of the idle energy as well, if idle.share "
		  "gives them one." },
	{ "passthrough.resolution", NULL, OPTION_ENUM,
	  OPTION_MEMBER(struct passthrough_options, resolution_uj), .choices = resolutions,
	  .default_text = "1mJ", .metavar = "ENERGY",
	  .help = "Energies reported to virtual machines are rounded down to multiples of "
		  "this." },
};

enum { CHANNEL_VSOCK, CHANNEL_SOCKETS, CHANNEL_DIR, CHANNELS };

struct guests_health {
	uint64_t guests, unpaired, overflows, scans, libvirt_known, libvirt_errors;
	struct guest_counts channels[CHANNELS];
};

static void copy_counts(const struct guest_counts *from, struct guest_counts *to)
{
	const uint64_t *source = &from->connected;
	uint64_t *target = &to->connected;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*target); i++)
		target[i] = __atomic_load_n(&source[i], __ATOMIC_RELAXED);
}

static bool fill(const void *owner, void *ret)
{
	const struct guests *guests = owner;
	struct guests_health *health = ret;

	health->guests = __atomic_load_n(&guests->guest_count, __ATOMIC_RELAXED);
	health->unpaired = __atomic_load_n(&guests->unpaired_count, __ATOMIC_RELAXED);
	health->overflows = __atomic_load_n(&guests->overflows, __ATOMIC_RELAXED);
	health->scans = __atomic_load_n(&guests->scans, __ATOMIC_RELAXED);
	health->libvirt_known = __atomic_load_n(&guests->libvirt.known, __ATOMIC_RELAXED);
	health->libvirt_errors = __atomic_load_n(&guests->libvirt.errors, __ATOMIC_RELAXED);
	copy_counts(&guests->vsock.counts, &health->channels[CHANNEL_VSOCK]);
	copy_counts(&guests->sockets.counts, &health->channels[CHANNEL_SOCKETS]);
	copy_counts(&guests->folder.counts, &health->channels[CHANNEL_DIR]);
	return true;
}

#define OF(channel, member) HEALTH_VALUE(struct guests_health, channels[CHANNEL_##channel].member)
#define BY_CHANNEL(member)                                                                         \
	(const struct health_variant[])                                                            \
	{                                                                                          \
		{ "vsock", OF(VSOCK, member) }, { "sockets", OF(SOCKETS, member) },                \
			{ "dir", OF(DIR, member) },                                                \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_passthrough_guests",
	  .type = FAMILY_GAUGE,
	  .value = HEALTH_VALUE(struct guests_health, guests),
	  .help = "Virtual machines that can receive their own energy. Absent without an option "
		  "passthrough.vsock, passthrough.sockets or passthrough.dir." },
	{ .name = "kepler_exporter_passthrough_guests_without_process",
	  .type = FAMILY_GAUGE,
	  .value = HEALTH_VALUE(struct guests_health, unpaired),
	  .help = "Those of them whose process is not known (yet): they cannot connect." },
	{ .name = "kepler_exporter_passthrough_guests_dropped",
	  .type = FAMILY_COUNTER,
	  .value = HEALTH_VALUE(struct guests_health, overflows),
	  .help = "Rows of virtual machines without a record, once per interval, because the limit "
		  "on guests was reached or there was no memory." },
	{ .name = "kepler_exporter_passthrough_scans",
	  .type = FAMILY_COUNTER,
	  .value = HEALTH_VALUE(struct guests_health, scans),
	  .help = "Searches of all processes for those that run virtual machines." },
	{ .name = "kepler_exporter_passthrough_libvirt_machines",
	  .type = FAMILY_GAUGE,
	  .value = HEALTH_VALUE(struct guests_health, libvirt_known),
	  .help = "Running virtual machines whose state was read in passthrough.libvirt." },
	{ .name = "kepler_exporter_passthrough_libvirt_errors",
	  .type = FAMILY_COUNTER,
	  .value = HEALTH_VALUE(struct guests_health, libvirt_errors),
	  .help = "Files of passthrough.libvirt, and times that the directory itself, could not be "
		  "read or understood. The log has the first of each kind." },
	{ .name = "kepler_exporter_passthrough_connections",
	  .type = FAMILY_GAUGE,
	  .variant_label = "channel",
	  .variants = BY_CHANNEL(connected),
	  .help = "Connections to virtual machines." },
	{ .name = "kepler_exporter_passthrough_requests_ignored",
	  .type = FAMILY_COUNTER,
	  .variant_label = "channel",
	  .variants = BY_CHANNEL(ignored),
	  .help = "Lines that virtual machines sent to their port org.github.vhostmd.1 and that "
		  "are "
		  "no request for their metrics." },
	{ .name = "kepler_exporter_passthrough_records",
	  .type = FAMILY_COUNTER,
	  .variant_label = "channel",
	  .variants = BY_CHANNEL(records),
	  .help = "Records of energy sent to virtual machines, or written to their directories." },
	{ .name = "kepler_exporter_passthrough_records_dropped",
	  .type = FAMILY_COUNTER,
	  .variant_label = "channel",
	  .variants = BY_CHANNEL(dropped),
	  .help = "Records that were replaced by newer ones because the virtual machine did not "
		  "read in time. Its energy is in the next record that it reads." },
	{ .name = "kepler_exporter_passthrough_unknown_peers",
	  .type = FAMILY_COUNTER,
	  .variant_label = "channel",
	  .variants = BY_CHANNEL(unknown_peers),
	  .help = "Connections closed at once because the peer is not a known virtual machine, or "
		  "not the one to which the socket belongs." },
	{ .name = "kepler_exporter_passthrough_connections_refused",
	  .type = FAMILY_COUNTER,
	  .variant_label = "channel",
	  .variants = BY_CHANNEL(refused),
	  .help = "Connections closed at once because of the limits for one virtual machine." },
	{ .name = "kepler_exporter_passthrough_errors",
	  .type = FAMILY_COUNTER,
	  .variant_label = "channel",
	  .variants = BY_CHANNEL(errors),
	  .help = "Failures to make, connect or write a socket or file of a virtual machine. The "
		  "log has the reason." },
};

static const struct health_part health = {
	.size = sizeof(struct guests_health),
	.fill = fill,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};

static const char *folder(const struct push_options *options, size_t index)
{
	const char *const folders[] = { options->passthrough.sockets, options->passthrough.dir };

	return index < ARRAY_SIZE(folders) ? folders[index] : NULL;
}

static unsigned more_needs(const struct push_options *options)
{
	return options->passthrough.vsock_port ? NEED_VSOCK : 0;
}

const struct exporter_ops guests_exporter = {
	.start = start,
	.reconfigure = reconfigure,
	.describe = describe,
	.stop = stop,
	.health = &health,
	.options = PUSH_OPTIONS(rows, passthrough),
	.is_wanted = is_wanted,
	.needs = NEED_GUESTS,
	.more_needs = more_needs,
	.folder = folder,
};
