// SPDX-License-Identifier: Apache-2.0
/*
 * bench-guests [GUESTS [INTERVALS [DIR]]] - what it costs to report their energy to virtual
 * machines over connected sockets: the table, the record, its bytes and the system calls, in µs of
 * CPU time and bytes of memory for each guest and interval. The guests read in between, which does
 * not count. With DIR, each guest also has the sockets of --passthrough.sockets there.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "export/guests/guest_account.h"
#include "export/guests/guest_sockets.h"
#include "export/guests/guest_stream.h"
#include "export/guests/guest_table.h"

#define ZONES 4

struct bench {
	struct snapshot snapshot;
	struct owner_names *names;
	struct series_labels *labels;
	struct snapshot_row *rows;
	char (*ids)[UUID_TEXT_LEN + 1];
	uint64_t *values;
	struct snapshot_zone zones[ZONES];
	struct snapshot_account accounts[ZONES];
	struct guest_table table;
	struct guest_counts counts;
	int *guest_fds;
	int epoll_fd;
};

static void *zalloc(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		abort();
	return memory;
}

static void make_snapshot(struct bench *bench, size_t guests)
{
	static const enum zone_kind kinds[ZONES] = { ZONE_PACKAGE, ZONE_CORE, ZONE_UNCORE,
						     ZONE_DRAM };
	struct snapshot_table *table = &bench->snapshot.level[LEVEL_VM];

	bench->names = zalloc(guests, sizeof(*bench->names));
	bench->labels = zalloc(guests, sizeof(*bench->labels));
	bench->rows = zalloc(guests, sizeof(*bench->rows));
	bench->ids = zalloc(guests, sizeof(*bench->ids));
	bench->values = zalloc(guests * (ZONES + 1), sizeof(*bench->values));
	bench->guest_fds = zalloc(guests, sizeof(*bench->guest_fds));
	for (size_t i = 0; i < guests; i++) {
		(void)snprintf(bench->ids[i], sizeof(bench->ids[i]),
			       "8a4c1f0e-33b7-4d19-9e5f-%012x", (unsigned)i);
		bench->names[i].text[LABEL_VM_ID] = bench->ids[i];
		bench->labels[i] = (struct series_labels){ .slot = (uint32_t)i,
							   .serial = i + 1,
							   .names = &bench->names[i] };
		bench->rows[i].labels = &bench->labels[i];
	}
	for (uint32_t z = 0; z < ZONES; z++) {
		bench->zones[z].zone.kind = kinds[z];
		bench->accounts[z] = (struct snapshot_account){ .first_zone = z,
								.column = { z + 1, COLUMN_NONE },
								.rows_have_mode = { true } };
	}
	table->count = guests;
	table->rows = bench->rows;
	table->values = bench->values;
	bench->snapshot.columns = ZONES + 1;
	bench->snapshot.zones = bench->zones;
	bench->snapshot.zone_count = bench->snapshot.account_count = ZONES;
	bench->snapshot.accounts = bench->accounts;
}

static void ignore_end(void *userdata, struct guest *guest)
{
	(void)userdata;
	(void)guest;
}

static void connect_all(struct bench *bench)
{
	for (size_t i = 0; i < bench->table.count; i++) {
		int fds[2];

		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) < 0 ||
		    !guest_stream_open(bench->epoll_fd, fds[1], bench->table.guests[i],
				       &bench->counts)) {
			perror("bench-guests");
			exit(1);
		}
		bench->guest_fds[i] = fds[0];
	}
}

static void report(struct bench *bench, uint64_t boottime_ns)
{
	const struct guest_account_options options = { .resolution_uj = 1000,
						       .period_ns = NSEC_PER_SEC };
	struct passthrough_record record;

	(void)guest_table_update(&bench->table, &bench->snapshot, ignore_end, NULL);
	for (size_t i = 0; i < bench->table.count; i++) {
		struct guest *guest = bench->table.guests[i];

		if (!guest_account_next(guest, &bench->snapshot, &options, boottime_ns, &record))
			continue;
		guest->record_size = passthrough_record_write(&record, guest->record);
		(void)guest_stream_send(guest->streams[0]);
	}
}

static void read_all(const struct bench *bench)
{
	char bytes[2 * PASSTHROUGH_RECORD_MAX];

	for (size_t i = 0; i < bench->table.count; i++) {
		while (read(bench->guest_fds[i], bytes, sizeof(bytes)) > 0)
			;
	}
}

int main(int argc, char **argv)
{
	size_t guests = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	size_t intervals = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
	struct rlimit files = { 4 * guests + 64, 4 * guests + 64 };
	struct bench bench = { .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	struct guest_sockets sockets = { .folder = argc > 3 ? argv[3] : "",
					 .port = 28283,
					 .epoll_fd = bench.epoll_fd,
					 .users = &bench.table.users };
	size_t before, after;
	uint64_t cpu_ns = 0;

	(void)setrlimit(RLIMIT_NOFILE, &files);
	make_snapshot(&bench, guests);
	guest_table_init(&bench.table, "/etc/passwd");
	before = mallinfo2().uordblks;
	(void)guest_table_update(&bench.table, &bench.snapshot, ignore_end, NULL);
	connect_all(&bench);
	for (size_t i = 0; sockets.folder[0] && i < bench.table.count; i++)
		guest_sockets_tend(&sockets, bench.table.guests[i], 0);
	after = mallinfo2().uordblks;
	for (size_t i = 0; i < intervals; i++) {
		uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		report(&bench, (i + 1) * NSEC_PER_SEC);
		cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
		read_all(&bench);
	}
	printf("%zu guests: %.2f us and %zu bytes each; %llu records, %llu dropped\n",
	       bench.table.count, (double)cpu_ns / 1e3 / (double)(guests * intervals),
	       (after - before) / guests, (unsigned long long)bench.counts.records,
	       (unsigned long long)bench.counts.dropped);
	for (size_t i = 0; i < bench.table.count; i++)
		guest_sockets_end(bench.table.guests[i]);
	return 0;
}
