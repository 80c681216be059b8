// SPDX-License-Identifier: Apache-2.0
/*
 * The archive is made in memory, checked and compressed, and written at once: at no time is there a
 * file that has less than it says. Its texts are read by people before they send it, so they are
 * plain, and every one of them has gone through the redaction.
 */
#include "doctor/doctor_report.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <yaml.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/ustar.h"
#include "doctor/report_names.h"
#include "doctor/sysfs_shape.h"
#include "export/gzip_body.h"
#include "host/host.h"
#include "options/version.h"
#include "record/record_store.h"

#define SYSFS_LIMIT_NS (10 * NSEC_PER_SEC)

static const char readme[] =
	"A report of kepler doctor about one machine, to be attached to an issue.\n"
	"\n"
	"doctor.txt        what kepler doctor found\n"
	"versions.txt      Kepler, kernel, libraries, processor\n"
	"options.txt       the options that were given; paths, URLs and names are not shown\n"
	"sysfs.txt         which sensors the kernel shows, with their values\n"
	"sysfs-later.txt   energies and powers again, after the recording\n"
	"recording.krec    what was measured, for kepler replay; names in it are random numbers\n"
	"\n"
	"Names of hosts, users, containers, pods and processes, addresses, URLs, paths of users,\n"
	"serial numbers and secrets are left out or replaced by pseudonyms such as host-1, the "
	"same\n"
	"for the same original. The times are those since the recording began, not times of day.\n"
	"Read the text files before you send the report: Kepler cannot know every name.\n"
	"\n"
	"To look at it:       any editor\n"
	"To replay it:        kepler replay recording.krec\n"
	"To lay out sysfs:    tests/rig/report_tree.py FILE, in Kepler's source tree\n";

/* ---- its texts ---- */

static void add_versions(const struct config *config, struct strbuf *out)
{
	struct host_info host = { .kernel = "" };

	(void)host_info_read(config->host.procfs, config->host.sysfs, &host);
	strbuf_addf(out, "kepler %s%s%s\n", KEPLER_VERSION, KEPLER_REVISION[0] ? " " : "",
		    KEPLER_REVISION);
	strbuf_addf(out, "built for %s by C compiler %s\n", host.machine, __VERSION__);
	strbuf_addf(out, "linux %s\n", host.kernel);
	strbuf_addf(out, "glibc %s\nlibbpf %s\nlibmicrohttpd %s\njansson %s\nlibyaml %s\nzlib %s\n",
		    gnu_get_libc_version(), libbpf_version_string(), MHD_get_version(),
		    jansson_version_str(), yaml_get_version_string(), zlibVersion());
	strbuf_addf(out, "processor %s %u/%u: %s (%s)\n", host.cpu_vendor, host.cpu_family,
		    host.cpu_model_number, host.cpu_model, host.cpu_architecture);
	strbuf_addf(out, "%u logical CPUs, %u cores, %u sockets, %.0f GiB\n", host.cpus, host.cores,
		    host.sockets, host.memory_gib);
	strbuf_addf(out, "virtual machine: %s\n", host.is_vm ? host.hypervisor : "no");
	strbuf_addf(out, "run by %s\n", geteuid() == 0 ? "root" : "an ordinary user");
}

/* Adds the findings, without the table of processes, because the recording contains these. */
static int add_findings(const struct findings *findings, struct strbuf *out)
{
	static const struct findings_view view = { .verbose = true };
	CLEANUP_FREE struct findings *shown = calloc(1, sizeof(*shown));

	if (!shown)
		return -ENOMEM;
	memcpy(shown->headline, findings->headline, sizeof(shown->headline));
	for (size_t i = 0; i < findings->count; i++) {
		if (findings->list[i].level != FINDING_SHOW)
			shown->list[shown->count++] = findings->list[i];
	}
	findings_print(shown, &view, out);
	return 0;
}

static int add_text(struct doctor_report *report, const char *name, const struct strbuf *text,
		    bool by_form)
{
	CLEANUP(strbuf_release) struct strbuf clean = STRBUF_INIT;
	int r = strbuf_error(text);

	if (r == 0)
		r = redaction_text(report->redaction, text->data ? text->data : "", by_form,
				   &clean);
	if (r == 0)
		ustar_add(&report->archive, name, clean.data, clean.len, time(NULL));
	return r;
}

/* Without a recording doctor.txt says why nothing could be measured. */
static int add_recording(struct doctor_report *report)
{
	off_t len = lseek(report->recording_fd, 0, SEEK_END);
	void *bytes;

	if (len <= 0)
		return len < 0 ? -errno : 0;
	bytes = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, report->recording_fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	ustar_add(&report->archive, "recording.krec", bytes, (size_t)len, time(NULL));
	(void)munmap(bytes, (size_t)len);
	return 0;
}

static int fill(struct doctor_report *report, const struct findings *findings)
{
	CLEANUP(strbuf_release) struct strbuf doctor = STRBUF_INIT, versions = STRBUF_INIT;
	CLEANUP(strbuf_release) struct strbuf options = STRBUF_INIT;
	const struct {
		const char *name;
		const struct strbuf *text;
	} texts[] = { { "doctor.txt", &doctor },
		      { "versions.txt", &versions },
		      { "options.txt", &options },
		      { "sysfs.txt", &report->shape },
		      { "sysfs-later.txt", &report->values } };
	int r = add_findings(findings, &doctor);

	add_versions(report->config, &versions);
	report_names_show_options(report->config, &options);
	ustar_add(&report->archive, "README.txt", readme, sizeof(readme) - 1, time(NULL));
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(texts); i++)
		r = add_text(report, texts[i].name, texts[i].text, i == 0);
	if (r == 0)
		r = add_recording(report);
	ustar_end(&report->archive);
	return r < 0 ? r : strbuf_error(&report->archive);
}

/* ---- the file ---- */

static void read_sysfs(struct doctor_report *report, enum sysfs_shape_part part, struct strbuf *out)
{
	int r;

	strbuf_addf(out, "# at %.3f s\n", (double)clock_ns(CLOCK_MONOTONIC) / 1e9);
	r = sysfs_shape_read(report->config->host.sysfs, part, SYSFS_LIMIT_NS, out);
	if (r < 0)
		strbuf_addf(out, "# sysfs was not read: %s\n", strerrordesc_np(-r));
}

/* To the user who calls with sudo, so that it can be read and sent without sudo. */
static void give_to_caller(int fd)
{
	const char *uid_text = getenv("SUDO_UID"), *gid_text = getenv("SUDO_GID");
	uint64_t uid, gid;

	if (geteuid() == 0 && uid_text && gid_text &&
	    parse_u64(uid_text, strlen(uid_text), &uid) == 0 &&
	    parse_u64(gid_text, strlen(gid_text), &gid) == 0 && uid < UINT32_MAX &&
	    gid < UINT32_MAX && fchown(fd, (uid_t)uid, (gid_t)gid) < 0)
		(void)fprintf(stderr, "kepler: the report stays root's: %s\n",
			      strerrordesc_np(errno));
}

int doctor_report_open(struct doctor_report *report, const char *path, const struct config *config,
		       struct diag *diag)
{
	*report = (struct doctor_report){ .path = path, .config = config, .recording_fd = -1 };
	report->fd = record_store_create(path, diag);
	if (report->fd < 0)
		return report->fd;
	give_to_caller(report->fd);
	report->recording_fd = memfd_create("kepler-report", MFD_CLOEXEC);
	if (report->recording_fd < 0)
		return diag_set(diag, -errno, "no memory for a recording: %s",
				strerrordesc_np(errno));
	report->redaction = report_names_new(config);
	if (!report->redaction)
		return diag_set(diag, -ENOMEM, "out of memory");
	read_sysfs(report, SYSFS_SHAPE_ALL, &report->shape);
	return 0;
}

static int put(struct doctor_report *report, const struct strbuf *packed)
{
	FILE *file = fdopen(report->fd, "w");
	int r = 0;

	if (!file)
		return -errno;
	report->fd = -1;
	if (fwrite(packed->data, 1, packed->len, file) != packed->len)
		r = -errno;
	if (fclose(file) != 0 && r == 0)
		r = -errno;
	return r;
}

static void tell(const struct doctor_report *report, size_t len)
{
	(void)printf(
		"%s: written, %zu kB. It is meant to be public: names, addresses, paths and "
		"secrets\nare left out or replaced. Look at it before you send it:\n"
		"  tar -tvzf %s                      lists its files\n"
		"  tar -xOzf %s doctor.txt           prints one of them\n"
		"  tar -xzf %s recording.krec && kepler replay recording.krec\n"
		"Attach it to an issue, as \"How to send a report of a meter\" in docs/meters.md "
		"says.\n",
		report->path, (len + 999) / 1000, report->path, report->path, report->path);
}

int doctor_report_write(struct doctor_report *report, const struct findings *findings,
			struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf packed = STRBUF_INIT;
	int r;

	read_sysfs(report, SYSFS_SHAPE_VALUES, &report->values);
	r = fill(report, findings);
	if (r == 0)
		r = gzip_body(report->archive.data, report->archive.len, &packed);
	if (r == 0)
		r = put(report, &packed);
	if (r < 0) {
		(void)unlink(report->path);
		return diag_set(diag, r, "%.200s: %s", report->path, strerrordesc_np(-r));
	}
	tell(report, packed.len);
	return 0;
}

void doctor_report_close(struct doctor_report *report)
{
	if (report->fd >= 0) {
		(void)close(report->fd);
		(void)unlink(report->path);
	}
	if (report->recording_fd >= 0)
		(void)close(report->recording_fd);
	redaction_free(report->redaction);
	strbuf_release(&report->shape);
	strbuf_release(&report->values);
	strbuf_release(&report->archive);
}
