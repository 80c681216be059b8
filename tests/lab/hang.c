// SPDX-License-Identifier: Apache-2.0
/*
 * hang - processes of an unprivileged user whose memory no process can look at.
 *
 *   hang MOUNT COMM COUNT
 *
 * Mounts a file system on MOUNT whose one file fails its first reads and then never answers: a page
 * fault on it is tried again by the kernel with mmap_lock held, and hangs. A second thread waits in
 * mprotect() for that lock, so that a reader of /proc/PID/cmdline waits, too. COUNT processes
 * of uid 65534 that call themselves COMM do that, while their first threads run a little now and
 * then. Prints "hanging PID…" when all of them hang. A user with /dev/fuse can do all of this; that
 * root mounts here only saves fusermount.
 *
 * All ends with the process that serves the mount: SIGTERM to it, or to this one.
 */
#define FUSE_USE_VERSION 31

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAILING_READS 2
#define NOBODY        65534
#define COUNT_MAX     64

/* ---- the file system: /N is process N's file ---- */

static atomic_int reads[COUNT_MAX];

static int hang_getattr(const char *path, struct stat *st, struct fuse_file_info *file)
{
	(void)file;
	*st = (struct stat){ .st_nlink = 1, .st_mode = S_IFREG | 0444, .st_size = 4096 };
	if (strcmp(path, "/") == 0)
		*st = (struct stat){ .st_nlink = 2, .st_mode = S_IFDIR | 0755 };
	return 0;
}

static int hang_read(const char *path, char *buf, size_t size, off_t offset,
		     struct fuse_file_info *file)
{
	int number = atoi(path + 1) % COUNT_MAX;

	(void)buf;
	(void)size;
	(void)offset;
	(void)file;
	if (atomic_fetch_add(&reads[number], 1) < FAILING_READS)
		return -EIO;
	for (;;)
		(void)pause();
}

static pid_t serve(char *mount)
{
	static const struct fuse_operations operations = {
		.getattr = hang_getattr,
		.read = hang_read,
	};
	char program[] = "hang", foreground[] = "-f", option[] = "-o";
	char options[] = "allow_other,max_threads=64";
	char *args[] = { program, mount, foreground, option, options, NULL };
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(fuse_main(5, args, &operations, NULL));
}

static int wait_for_mount(const char *mount)
{
	char path[512];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%.400s/0", mount);
	for (int i = 0; i < 500; i++) {
		if (stat(path, &st) == 0)
			return 0;
		(void)usleep(10000);
	}
	return -1;
}

/* ---- a process ---- */

static const char *page;

static void *fault(void *arg)
{
	(void)arg;
	return (void *)(uintptr_t)*page;
}

static void *change_memory(void *own)
{
	(void)usleep(300000); /* the other thread is in its fault by then */
	(void)mprotect(own, 4096, PROT_READ);
	return NULL;
}

/*
 * Returns true if a thread of it is in state D: the one in mprotect(), which waits for the fault.
 */
static int is_hanging(pid_t pid)
{
	char path[64], text[512];
	int hanging = 0;
	struct dirent *entry;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		FILE *file;

		(void)snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", pid, entry->d_name);
		file = fopen(path, "r");
		if (file && fgets(text, sizeof(text), file))
			hanging += strstr(text, ") D ") != NULL;
		if (file)
			(void)fclose(file);
	}
	if (dir)
		(void)closedir(dir);
	return hanging > 0;
}

static void run_a_little(void)
{
	const struct timespec pause = { 0, 40000000 };

	for (;;) {
		for (volatile int i = 0; i < 200000; i++)
			;
		(void)nanosleep(&pause, NULL);
	}
}

static void become_nobody(void)
{
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		_exit(1);
}

static pid_t start_process(const char *mount, int number, const char *comm)
{
	char path[512];
	pthread_t thread;
	void *own;
	pid_t pid = fork();
	int fd;

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "harmless");
	become_nobody();
	(void)snprintf(path, sizeof(path), "%.400s/%d", mount, number);
	fd = open(path, O_RDONLY);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || own == MAP_FAILED)
		_exit(1);
	*(char *)own = 1;
	(void)pthread_create(&thread, NULL, change_memory, own);
	(void)pthread_create(&thread, NULL, fault, NULL);
	(void)usleep(500000); /* it gets the name when its memory can no longer be looked at */
	(void)prctl(PR_SET_NAME, comm);
	run_a_little();
	return 0;
}

int main(int argc, char **argv)
{
	int count = argc == 4 ? atoi(argv[3]) : 0;
	pid_t pids[COUNT_MAX];

	if (count < 1 || count > COUNT_MAX) {
		(void)fprintf(stderr, "usage: hang MOUNT COMM COUNT (at most %d)\n", COUNT_MAX);
		return 2;
	}
	if (serve(argv[1]) < 0 || wait_for_mount(argv[1]) < 0)
		return 1;
	for (int i = 0; i < count; i++)
		pids[i] = start_process(argv[1], i, argv[2]);
	printf("hanging");
	(void)usleep(600000); /* nothing waits so long for a lock that is ever given back */
	for (int i = 0; i < count; i++) {
		for (int tries = 0; !is_hanging(pids[i]); tries++) {
			if (tries == 500)
				return 1;
			(void)usleep(10000);
		}
		printf(" %d", pids[i]);
	}
	printf("\n");
	(void)fflush(stdout);
	for (;;)
		(void)pause();
}
