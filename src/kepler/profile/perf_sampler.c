// SPDX-License-Identifier: Apache-2.0
/*
 * One ring per CPU and event. A process that moves from one CPU to another has its records in two
 * rings, so all rings are copied into one buffer, which is sorted by time before it is read. Only
 * the event of time records mappings and processes.
 * The kernel walks the stacks by frame pointers.
 */
#include "kepler/profile/perf_sampler.h"

#if defined(__x86_64__)
#include <asm/perf_regs.h>
#endif
#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

#define CPUS_MAX        4096
#define RING_BYTES      (64U * 1024) /* a power of two of pages */
#define BUFFER_BYTES    (16U << 20)
#define SOFTWARE_PERIOD 997
/*
 * Copies of stacks: fewer bytes of each with many CPUs, so that their rings, with room for 60
 * samples, have 8 MiB on up to 64 CPUs. On fewer CPUs, and with frequencies above 100 Hz, rings
 * have room for up to half a second of samples within the same sum: this process may have to wait
 * for a CPU that long, and what is lost meanwhile is not a fair sample of a program that does
 * things in turns.
 */
#define STACK_BYTES_MAX (8U * 1024)
#define STACK_BYTES_MIN (2U * 1024)
#define STACKS_BYTES    (128U * 1024) /* of all CPUs */
#define STACKS_OF_RING  64U
#define RINGS_BYTES     (8U << 20) /* of all CPUs; half of the buffer */
#define RING_DIVISOR    2U         /* of a second: the time that a ring should hold */
#define DRAINS_OF_RING  4U         /* in the time in which it fills, but every DRAIN_NS at least */
#define DRAIN_NS        (100 * NSEC_PER_MSEC)
#define SAMPLE_TYPE     (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN)

/* The user registers that a sample has, in the order of their numbers. */
#define REGISTER_COUNT 3
#if defined(__x86_64__)
#define REGISTERS (1U << PERF_REG_X86_BP | 1U << PERF_REG_X86_SP | 1U << PERF_REG_X86_IP)
#else
#define REGISTERS 0U
#endif

struct ring {
	int fd;
	enum sample_clock clock;
	struct perf_event_mmap_page *head; /* and the ring after its page */
	size_t bytes;                      /* of that */
};

/* Where a record stands in the buffer. */
struct place {
	uint64_t time_ns;
	uint32_t at;
	uint32_t order; /* of records with the same time */
	enum sample_clock clock;
};

struct perf_sampler {
	struct ring *rings; /* [ring_count] */
	size_t ring_count, ring_size;
	size_t page;
	uint32_t stack_bytes; /* that are copied with a sample; 0: none */
	size_t stacks_bytes;  /* of each ring with copies of stacks */
	uint64_t drain_ns;
	char *buffer; /* [BUFFER_BYTES], resident as far as it is used */
	uint32_t used;
	struct place *places; /* [place_count]; those before `next` have been given */
	size_t place_count, place_size, next;
	bool is_sorted;
	uint64_t period[SAMPLE_CLOCKS]; /* 0: as the record has it */
	struct perf_sampler_stats stats;
};

/* The end of a record that is not a sample: sample_id_all. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
};

/*
 * The layouts of linux/perf_event.h, as SAMPLE_TYPE selects them. Of an event with a fixed period
 * there is an address instead: asked for the period, the kernel would sample each single event.
 */
struct sample_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t period;
	uint64_t count;
	uint64_t ips[];
};

struct mmap_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, len, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[];
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[];
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

/*
 * The kernel adapts the period of an event to the wanted frequency. With events that it counts
 * itself, such as page faults, that fails for ever after a burst, so these have a fixed period.
 */
static bool is_fixed(const struct perf_source *source)
{
	return source->clock != SAMPLED_BY_TIME && source->type == PERF_TYPE_SOFTWARE;
}

static int open_event(const struct perf_source *source, uint32_t frequency_hz, uint32_t stack_bytes,
		      int cpu)
{
	const bool is_first = source->clock == SAMPLED_BY_TIME;
	const bool copies = is_first && stack_bytes;
	struct perf_event_attr attr = {
		.type = source->type,
		.size = sizeof(attr),
		.config = source->config,
		.freq = !is_fixed(source),
		.sample_freq = is_fixed(source) ? SOFTWARE_PERIOD : frequency_hz,
		.sample_type = SAMPLE_TYPE |
			       (is_fixed(source) ? PERF_SAMPLE_ADDR : PERF_SAMPLE_PERIOD) |
			       (copies ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0),
		.sample_regs_user = REGISTERS, /* only with PERF_SAMPLE_REGS_USER */
		.sample_stack_user = copies ? stack_bytes : 0,
		.sample_id_all = 1,
		.exclude_idle = 1,
		.exclude_hv = 1,
		.mmap = is_first,
		.mmap2 = is_first,
		.comm = is_first,
		.comm_exec = is_first,
		.task = is_first,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_ring(struct perf_sampler *sampler, const struct perf_source *source,
		     uint32_t frequency_hz, int cpu)
{
	size_t bytes = sampler->stack_bytes && source->clock == SAMPLED_BY_TIME
			       ? sampler->stacks_bytes
			       : RING_BYTES;
	void *head;
	int fd;

	if (ARRAY_RESERVE(sampler->rings, sampler->ring_size, sampler->ring_count + 1) < 0)
		return -ENOMEM;
	fd = open_event(source, frequency_hz, sampler->stack_bytes, cpu);
	if (fd < 0)
		return -errno;
	head = mmap(NULL, sampler->page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED) {
		int err = -errno;

		(void)close(fd);
		return err;
	}
	sampler->rings[sampler->ring_count++] =
		(struct ring){ .fd = fd, .clock = source->clock, .head = head, .bytes = bytes };
	return 0;
}

/* All but the first @kept. */
static void close_rings(struct perf_sampler *sampler, size_t kept)
{
	while (sampler->ring_count > kept) {
		const struct ring *ring = &sampler->rings[--sampler->ring_count];

		(void)munmap(ring->head, sampler->page + ring->bytes);
		(void)close(ring->fd);
	}
}

/* On all CPUs or on none. A CPU that is offline has no event. */
static int open_source(struct perf_sampler *sampler, const struct perf_source *source,
		       uint32_t frequency_hz)
{
	const size_t before = sampler->ring_count;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < cpus && cpu < CPUS_MAX; cpu++) {
		int r = open_ring(sampler, source, frequency_hz, cpu);

		if (r < 0 && r != -ENODEV) {
			close_rings(sampler, before);
			return r;
		}
	}
	if (sampler->ring_count == before)
		return -ENODEV;
	sampler->stats.clocks |= SAMPLE_CLOCK_BIT(source->clock);
	sampler->period[source->clock] = is_fixed(source) ? SOFTWARE_PERIOD : 0;
	return 0;
}

static int open_time(struct perf_sampler *sampler, uint32_t frequency_hz)
{
	const struct perf_source cycles = { SAMPLED_BY_TIME, PERF_TYPE_HARDWARE,
					    PERF_COUNT_HW_CPU_CYCLES };
	const struct perf_source timer = { SAMPLED_BY_TIME, PERF_TYPE_SOFTWARE,
					   PERF_COUNT_SW_CPU_CLOCK };
	int r = open_source(sampler, &cycles, frequency_hz);

	sampler->stats.by_cycles = r == 0;
	if (r < 0)
		r = open_source(sampler, &timer, frequency_hz);
	sampler->stats.cpus = (uint32_t)sampler->ring_count;
	return r;
}

static int refuse(int err, struct diag *diag)
{
	if (err == -EACCES || err == -EPERM)
		return diag_set(diag, err,
				"the kernel does not allow sampling (perf_event_open: %s); run "
				"kepler profile as root, or with CAP_PERFMON",
				strerrordesc_np(-err));
	return diag_set(diag, err, "the kernel does not sample (perf_event_open: %s)",
			strerrordesc_np(-err));
}

/* A power of two. */
static uint32_t stack_bytes(uint64_t cpus)
{
	uint32_t bytes = STACK_BYTES_MAX;

	while (bytes > STACK_BYTES_MIN && bytes * cpus > STACKS_BYTES)
		bytes /= 2;
	return bytes;
}

/* The size of a ring of records with copies of @bytes, a power of two times these. */
static size_t stacks_bytes(uint32_t bytes, uint32_t frequency_hz, uint64_t cpus)
{
	uint64_t stacks = STACKS_OF_RING;

	while (stacks * RING_DIVISOR < frequency_hz && 2 * stacks * bytes * cpus <= RINGS_BYTES)
		stacks *= 2;
	return (size_t)(stacks * bytes);
}

static uint64_t drain_ns(const struct perf_sampler *sampler, uint32_t frequency_hz)
{
	uint64_t fills_ns;

	if (!sampler->stack_bytes)
		return DRAIN_NS;
	fills_ns = sampler->stacks_bytes / sampler->stack_bytes * NSEC_PER_SEC / frequency_hz;
	return fills_ns / DRAINS_OF_RING < DRAIN_NS ? fills_ns / DRAINS_OF_RING : DRAIN_NS;
}

int perf_sampler_open(const struct perf_sampler_options *options, struct perf_sampler **ret,
		      struct diag *diag)
{
	struct perf_sampler *sampler = calloc(1, sizeof(*sampler));
	const uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	int r = -ENOMEM;

	if (!sampler)
		return diag_set(diag, r, "out of memory");
	sampler->page = (size_t)sysconf(_SC_PAGESIZE);
	sampler->stack_bytes = options->copies_stacks && REGISTERS != 0 ? stack_bytes(cpus) : 0;
	sampler->stacks_bytes = stacks_bytes(sampler->stack_bytes, options->frequency_hz, cpus);
	sampler->drain_ns = drain_ns(sampler, options->frequency_hz);
	sampler->buffer = malloc(BUFFER_BYTES);
	if (sampler->buffer)
		r = open_time(sampler, options->frequency_hz);
	if (r < 0) {
		perf_sampler_close(sampler);
		return refuse(r, diag);
	}
	for (size_t i = 0; i < options->source_count; i++)
		(void)open_source(sampler, &options->sources[i],
				  options->frequency_hz); /* its bit in stats.clocks is missing */
	*ret = sampler;
	return 0;
}

void perf_sampler_close(struct perf_sampler *sampler)
{
	if (!sampler)
		return;
	close_rings(sampler, 0);
	free(sampler->rings);
	free(sampler->buffer);
	free(sampler->places);
	free(sampler);
}

/* The time of a record, which stands at its end unless it is a sample. */
static uint64_t time_of(const struct perf_event_header *header)
{
	const char *end = (const char *)header + header->size;
	struct sample_id id;

	if (header->type == PERF_RECORD_SAMPLE)
		return ((const struct sample_record *)(const void *)header)->time_ns;
	memcpy(&id, end - sizeof(id), sizeof(id));
	return id.time_ns;
}

static bool is_wanted(const struct perf_event_header *header)
{
	return header->type == PERF_RECORD_SAMPLE || header->type == PERF_RECORD_MMAP2 ||
	       header->type == PERF_RECORD_COMM || header->type == PERF_RECORD_FORK ||
	       header->type == PERF_RECORD_EXIT;
}

/* Keeps the record that stands at the end of the buffer. */
static void keep_record(struct perf_sampler *sampler, enum sample_clock clock)
{
	const struct perf_event_header *header = (const void *)(sampler->buffer + sampler->used);

	if (header->type == PERF_RECORD_LOST)
		sampler->stats.lost += ((const struct lost_record *)(const void *)header)->lost;
	if (!is_wanted(header))
		return;
	if (ARRAY_RESERVE(sampler->places, sampler->place_size, sampler->place_count + 1) < 0) {
		sampler->stats.lost++;
		return;
	}
	sampler->places[sampler->place_count] =
		(struct place){ time_of(header), sampler->used, (uint32_t)sampler->place_count,
				clock };
	sampler->place_count++;
	sampler->used += header->size; /* a multiple of 8 */
	sampler->is_sorted = false;
}

/* Copies @len bytes from a ring of @size, which may wrap. */
static void copy_out(const char *data, size_t size, uint64_t at, void *ret, size_t len)
{
	size_t offset = (size_t)(at & (size - 1));
	size_t first = len < size - offset ? len : size - offset;

	memcpy(ret, data + offset, first);
	memcpy((char *)ret + first, data, len - first);
}

static void drain_ring(struct perf_sampler *sampler, struct ring *ring)
{
	const char *data = (const char *)ring->head + sampler->page;
	uint64_t tail = ring->head->data_tail;
	uint64_t head = __atomic_load_n(&ring->head->data_head, __ATOMIC_ACQUIRE);

	while (tail < head) {
		struct perf_event_header header;

		copy_out(data, ring->bytes, tail, &header, sizeof(header));
		if (header.size < sizeof(header) + sizeof(struct sample_id))
			break; /* the kernel makes none */
		if (header.size > BUFFER_BYTES - sampler->used) {
			sampler->stats.lost++;
		} else {
			copy_out(data, ring->bytes, tail, sampler->buffer + sampler->used,
				 header.size);
			keep_record(sampler, ring->clock);
		}
		tail += header.size;
	}
	__atomic_store_n(&ring->head->data_tail, head, __ATOMIC_RELEASE);
}

/* Events that were given make room. Records stand in the buffer in the order in which they came. */
static void make_room(struct perf_sampler *sampler)
{
	if (sampler->next < sampler->place_count)
		return;
	sampler->used = 0;
	sampler->place_count = sampler->next = 0;
}

uint64_t perf_sampler_drain_ns(const struct perf_sampler *sampler)
{
	return sampler->drain_ns;
}

void perf_sampler_drain(struct perf_sampler *sampler)
{
	make_room(sampler);
	for (size_t i = 0; i < sampler->ring_count; i++)
		drain_ring(sampler, &sampler->rings[i]);
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* The parts of a call chain stand behind marks: PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER. */
static void read_chain(const struct sample_record *record, struct perf_event *ret)
{
	size_t room = (record->header.size - sizeof(*record)) / sizeof(record->ips[0]);
	size_t count = record->count < room ? (size_t)record->count : room;
	const uint64_t **ips = NULL;
	size_t *left = NULL;

	for (size_t i = 0; i < count; i++) {
		if (record->ips[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			bool is_kernel = record->ips[i] == (uint64_t)PERF_CONTEXT_KERNEL;
			bool is_user = record->ips[i] == (uint64_t)PERF_CONTEXT_USER;

			ips = is_kernel ? &ret->kernel_ips : is_user ? &ret->user_ips : NULL;
			left = is_kernel ? &ret->kernel_count : &ret->user_count;
			if (ips) {
				*ips = &record->ips[i + 1];
				*left = 0;
			}
		} else if (ips) {
			++*left;
		}
	}
}

/*
 * The registers and the copy of the user stack, which follow the call chain: the kind of registers
 * and, unless it has none, these; the size of the copy, the copy, and how much of it is valid.
 */
static void read_stack(const struct sample_record *record, struct perf_event *ret)
{
	const uint64_t *words = record->ips + record->count;
	const uint64_t *end =
		(const uint64_t *)(const void *)((const char *)record + record->header.size);
	uint64_t size;

	if (words + 2 + REGISTER_COUNT > end || words[0] != PERF_SAMPLE_REGS_ABI_64)
		return;
	ret->registers = (struct stack_registers){ .fp = words[1], .sp = words[2], .ip = words[3] };
	words += 1 + REGISTER_COUNT;
	size = *words++;
	if (!size || size / 8 + 1 > (uint64_t)(end - words))
		return;
	ret->stack = (struct stack_copy){ .bytes = (const char *)words,
					  .start = ret->registers.sp,
					  .size = words[size / 8] < size ? words[size / 8] : size };
}

/* False for a record that says nothing here: of a thread, or of the idle task. */
static bool read_task(const struct perf_event_header *header, struct perf_event *ret)
{
	const struct task_record *task = (const void *)header;

	ret->kind = header->type == PERF_RECORD_FORK ? PERF_FORKED : PERF_ENDED;
	ret->pid = task->pid;
	ret->parent = task->parent_pid;
	return task->pid == task->tid;
}

static bool read_record(struct perf_sampler *sampler, const struct place *place,
			struct perf_event *ret)
{
	const struct perf_event_header *header = (const void *)(sampler->buffer + place->at);
	const struct sample_record *sample = (const void *)header;
	const struct mmap_record *map = (const void *)header;
	const struct comm_record *comm = (const void *)header;

	*ret = (struct perf_event){ .time_ns = place->time_ns };
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		ret->kind = PERF_SAMPLED;
		ret->clock = place->clock;
		ret->pid = sample->pid;
		ret->weight = sampler->period[place->clock] ? sampler->period[place->clock]
			      : sample->period              ? sample->period
							    : 1;
		read_chain(sample, ret);
		if (sampler->stack_bytes && place->clock == SAMPLED_BY_TIME)
			read_stack(sample, ret);
		sampler->stats.samples += sample->pid != 0;
		return sample->pid != 0;
	case PERF_RECORD_MMAP2:
		ret->kind = PERF_MAPPED;
		ret->pid = map->pid;
		ret->mapping = (struct perf_mapping){
			.start = map->start,
			.len = map->len,
			.offset = map->offset,
			.inode = map->inode,
			.device = (uint64_t)map->major << 32 | map->minor,
			.path = map->path,
		};
		return (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL;
	case PERF_RECORD_COMM:
		ret->kind = header->misc & PERF_RECORD_MISC_COMM_EXEC ? PERF_EXECUTED : PERF_NAMED;
		ret->pid = comm->pid;
		ret->name = comm->name;
		return ret->kind == PERF_EXECUTED || comm->pid == comm->tid;
	default:
		return read_task(header, ret);
	}
}

bool perf_sampler_next(struct perf_sampler *sampler, uint64_t until_ns, struct perf_event *ret)
{
	if (!sampler->is_sorted) {
		qsort(sampler->places + sampler->next, sampler->place_count - sampler->next,
		      sizeof(*sampler->places), compare_places);
		sampler->is_sorted = true;
	}
	while (sampler->next < sampler->place_count &&
	       sampler->places[sampler->next].time_ns <= until_ns) {
		if (read_record(sampler, &sampler->places[sampler->next++], ret))
			return true;
	}
	return false;
}

struct perf_sampler_stats perf_sampler_stats(const struct perf_sampler *sampler)
{
	return sampler->stats;
}
