// SPDX-License-Identifier: Apache-2.0
/*
 * Machines are paired with processes as the exporter does that. A connection is seen from outside:
 * a unix socket by the kernel's table, a directory by the age of its record. Of vsock, only the
 * address is visible.
 */
#include "doctor/doctor_vms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "export/guests/guest_libvirt.h"
#include "export/guests/guest_scan.h"
#include "export/guests/guest_sockets.h"
#include "export/guests/guest_table.h"
#include "export/guests/guest_vsock.h"
#include "passthrough/passthrough_text.h"

#define TOPIC       "virtual machines"
#define SHOWN_MAX   8          /* machines without a channel */
#define TABLE_MAX   (8U << 20) /* bytes of the kernel's table */
#define PERIODS_MAX 10         /* an older record is outdated */
#define CONNECTED   "03"       /* SS_CONNECTED in include/uapi/linux/net.h */
#define REMEDY                                                                                     \
	"docs/passthrough-host.md has the lines for libvirt, Proxmox, KubeVirt and Firecracker"

struct channels {
	const struct config *config;
	const struct passthrough_options *options;
	char *sockets; /* the kernel's table; NULL: it cannot be read */
	size_t total, served;
};

static void end_guest(void *userdata, struct guest *guest)
{
	(void)userdata;
	(void)guest;
}

/*
 * A line of PROCFS/net/unix: address, references, protocol, flags, type, state, inode, and the path
 * to which the socket was bound.
 */
static bool is_connected(const struct channels *channels, const char *path)
{
	const char *at = channels->sockets;
	size_t len = strlen(path);

	for (at = at ? strstr(at, path) : NULL; at; at = strstr(at, path)) {
		const char *line = at, *end = at + len;
		char state[3];

		if (strncmp(end, GUEST_SOCKET_NEW, strlen(GUEST_SOCKET_NEW)) == 0)
			end += strlen(GUEST_SOCKET_NEW);
		at = end;
		while (line > channels->sockets && line[-1] != '\n')
			line--;
		if ((*end == '\n' || !*end) &&
		    sscanf(line, "%*s %*s %*s %*s %*s %2s", state) == 1 &&
		    strcmp(state, CONNECTED) == 0)
			return true;
	}
	return false;
}

static bool has_socket(const struct channels *channels, const struct guest *guest,
		       const char *suffix, char *path, size_t size)
{
	int len = snprintf(path, size, "%s/%s%s", channels->options->sockets, guest->key, suffix);

	return len > 0 && (size_t)len < size && is_connected(channels, path);
}

/* A record of the last intervals. */
static bool has_record(const struct channels *channels, const struct guest *guest)
{
	CLEANUP_FREE char *path = NULL, *text = NULL;
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	struct passthrough_record record;
	struct diag diag;
	size_t len;

	if (asprintf(&path, "%s/%s/energy", channels->options->dir, guest->key) < 0) {
		path = NULL;
		return false;
	}
	return read_file_alloc(path, PASSTHROUGH_TEXT_MAX, &text, &len) == 0 &&
	       passthrough_text_read(text, len, &record, &diag) == 0 &&
	       (now_ns < record.realtime_ns ||
		(now_ns - record.realtime_ns) / NSEC_PER_MSEC / PERIODS_MAX <= record.period_ms);
}

/* The machine's vsock address; 0: not known. */
static uint32_t cid_of(const struct channels *channels, const struct guest *guest)
{
	for (size_t i = 0; i < channels->options->cid_count; i++) {
		struct guest_cid cid;
		struct diag diag;

		if (guest_cid_parse(channels->options->cids[i], &cid, &diag) == 0 &&
		    strcmp(cid.id, guest->id) == 0)
			return cid.cid;
	}
	return guest->process.vsock_cid;
}

static void add_item(struct strbuf *list, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void add_item(struct strbuf *list, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strbuf_addf(list, "%s%s", list->len ? "; " : "", text);
}

static void look_at_vsock(const struct channels *channels, const struct guest *guest,
			  struct strbuf *has, struct strbuf *lacks)
{
	uint32_t cid = cid_of(channels, guest), port = channels->options->vsock_port;

	if (port && cid)
		add_item(has, "vsock, once its guest connects to port %u (its address is %u)", port,
			 cid);
	else if (port)
		add_item(lacks, "no vsock address is on its command line");
}

static void look_at_sockets(const struct channels *channels, const struct guest *guest,
			    struct strbuf *has, struct strbuf *lacks)
{
	const struct passthrough_options *options = channels->options;
	const char *placed = guest->process.energy_socket;
	char path[512], port[32];

	if (placed[0] && is_connected(channels, placed))
		add_item(has, "%s", placed);
	else if (options->libvirt[0])
		add_item(lacks, "%s",
			 placed[0] ? "its port is not connected"
				   : "libvirt shows no port io.kepler.energy.0");
	if (!options->sockets[0])
		return;
	(void)snprintf(port, sizeof(port), ".vsock_%u", options->vsock_port);
	if (options->vsock_port && has_socket(channels, guest, port, path, sizeof(path)))
		add_item(has, "%s", path);
	if (has_socket(channels, guest, ".sock", path, sizeof(path)))
		add_item(has, "%s", path);
	else
		add_item(lacks, "nothing is connected at %s", path);
}

/* Lists the channels that the machine has in @has, and why it does not have the others. */
static void look(const struct channels *channels, const struct guest *guest, struct strbuf *has,
		 struct strbuf *lacks)
{
	const char *dir = channels->options->dir;

	look_at_vsock(channels, guest, has, lacks);
	look_at_sockets(channels, guest, has, lacks);
	if (dir[0] && has_record(channels, guest))
		add_item(has, "%s/%s, if that is shared with it", dir, guest->key);
	else if (dir[0])
		add_item(lacks, "%s/%s/energy is missing or outdated: is kepler run running?", dir,
			 guest->key);
}

static void examine_guest(struct findings *findings, struct channels *channels,
			  const struct guest *guest)
{
	CLEANUP(strbuf_release) struct strbuf has = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf lacks = STRBUF_INIT;

	channels->total++;
	if (!guest->process.pid)
		strbuf_add_str(&lacks, "its process is not known");
	else if (!guest->key[0])
		strbuf_add_str(&lacks, "its id cannot be the name of a file");
	else
		look(channels, guest, &has, &lacks);
	channels->served += has.len != 0;
	if (has.len)
		findings_add(findings, FINDING_OK, TOPIC, NULL, "%s receives its own energy by %s",
			     guest->id, has.data);
	else if (channels->total - channels->served <= SHOWN_MAX)
		findings_add(findings, FINDING_NOTE, TOPIC, REMEDY,
			     "%s does not receive its own energy: %s", guest->id,
			     lacks.data ? lacks.data : "out of memory");
}

static void examine_folder(struct findings *findings, const char *option, const char *path)
{
	struct stat st;

	if (path[0] && stat(path, &st) < 0)
		findings_add(findings, FINDING_FIX, TOPIC,
			     "make it before Kepler starts: RuntimeDirectory= of the service, see "
			     "docs/passthrough-host.md",
			     "--%s=%s: %s", option, path, strerrordesc_np(errno));
}

static void read_sockets(struct channels *channels)
{
	char path[4096];
	size_t len;

	if (path_join(path, sizeof(path), channels->config->host.procfs, "net/unix") == 0)
		(void)read_file_alloc(path, TABLE_MAX, &channels->sockets, &len);
}

static void examine_guests(struct findings *findings, struct channels *channels,
			   const struct guest_table *table)
{
	examine_folder(findings, "passthrough.sockets", channels->options->sockets);
	examine_folder(findings, "passthrough.dir", channels->options->dir);
	read_sockets(channels);
	for (size_t i = 0; i < table->count; i++) {
		if (!table->guests[i]->has_ended)
			examine_guest(findings, channels, table->guests[i]);
	}
	free(channels->sockets);
	if (channels->total - channels->served > SHOWN_MAX)
		findings_add(findings, FINDING_NOTE, TOPIC, REMEDY,
			     "%zu more of %zu virtual machines do not receive their own energy",
			     channels->total - channels->served - SHOWN_MAX, channels->total);
}

static void pair(struct guest_table *table, const struct snapshot *snapshot,
		 const struct config *config)
{
	CLEANUP(guest_libvirt_release)
	struct guest_libvirt libvirt = {
		.folder = config->push.passthrough.libvirt,
	};
	CLEANUP_FD int proc_fd = open(config->host.procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_FREE struct guest_process *processes = NULL;
	ssize_t count = proc_fd < 0 ? -errno : guest_processes_scan(proc_fd, &processes);

	if (count < 0)
		return;
	(void)guest_libvirt_look(&libvirt, &(struct timespec){ 0 });
	guest_libvirt_complete(&libvirt, processes, (size_t)count);
	guest_table_pair(table, snapshot, processes, (size_t)count);
}

void doctor_examine_vms(struct findings *findings, const struct snapshot *snapshot,
			const struct config *config)
{
	struct channels channels = { .config = config, .options = &config->push.passthrough };
	CLEANUP(guest_table_release) struct guest_table table;

	guest_table_init(&table, "/etc/passwd");
	if (snapshot)
		(void)guest_table_update(&table, snapshot, end_guest, NULL);
	if (!table.count)
		return;
	if (!channels.options->vsock_port && !channels.options->sockets[0] &&
	    !channels.options->dir[0] && !channels.options->libvirt[0]) {
		findings_add(findings, FINDING_NOTE, TOPIC,
			     "--passthrough.sockets=/run/kepler-guests or "
			     "--passthrough.vsock=28283; " REMEDY,
			     "%zu virtual machine%s here, and Kepler in %s could show measured "
			     "energy if it were reported to %s",
			     table.count, table.count == 1 ? " runs" : "s run",
			     table.count == 1 ? "it" : "them", table.count == 1 ? "it" : "them");
		return;
	}
	pair(&table, snapshot, config);
	examine_guests(findings, &channels, &table);
}
