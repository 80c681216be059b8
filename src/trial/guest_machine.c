// SPDX-License-Identifier: Apache-2.0
/*
 * Nothing of the guest is worth saving, so QEMU is killed. It gets SIGKILL as well if this program
 * dies without having done so.
 */
#include "trial/guest_machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "trial/guest_image.h"
#include "trial/guest_words.h"

#if defined(__aarch64__)
#define QEMU            "qemu-system-aarch64"
#define QEMU_PACKAGE    "qemu-system-arm"
#define MACHINE         "virt"
#define SERIAL_TERMINAL "ttyAMA0"
#elif defined(__x86_64__)
#define QEMU            "qemu-system-x86_64"
#define QEMU_PACKAGE    "qemu-system-x86"
#define MACHINE         "q35"
#define SERIAL_TERMINAL "ttyS0"
#else /* is never in PATH */
#define QEMU            "qemu-system-unknown"
#define QEMU_PACKAGE    "qemu-system"
#define MACHINE         "none"
#define SERIAL_TERMINAL "ttyS0"
#endif
#define WORDS_MAX 32

const struct load_kind load_guest = {
	.name = "guest",
	.unit = "",
	.program = QEMU,
	.without = QEMU " is not in PATH; Debian has it in the package " QEMU_PACKAGE ".",
};

void guest_uuid_make(char ret[static GUEST_UUID_SIZE])
{
	uint8_t b[16] = { 0 };

	(void)!getrandom(b, sizeof(b), 0);
	b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
	b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
	(void)snprintf(ret, GUEST_UUID_SIZE,
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
		       b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		       b[13], b[14], b[15]);
}

/* A kernel that can be read. 0, or -errno with a diagnosis. */
static int find_kernel(const char *given, char *buf, size_t size, struct diag *diag)
{
	struct utsname self;

	if (*given)
		(void)snprintf(buf, size, "%s", given);
	else if (uname(&self) == 0)
		(void)snprintf(buf, size, "/boot/vmlinuz-%s", self.release);
	if (access(buf, R_OK) == 0)
		return 0;
	return diag_set(diag, -errno,
			"vm.kernel: %s cannot be read: %s; give a kernel image, such as "
			"/boot/vmlinuz-6.1.0-50-amd64",
			buf, strerror(errno));
}

static size_t add_words(char **argv, size_t count, const char *const *words)
{
	for (; *words; words++)
		argv[count++] = (char *)(uintptr_t)*words;
	return count;
}

__attribute__((noreturn)) static void be_qemu(const struct guest_options *options,
					      const char *kernel, const char *uuid, int image,
					      int console, pid_t parent)
{
	static const char *const accelerators[][5] = {
		[GUEST_ACCEL_AUTO] = { "-accel", "kvm", "-accel", "tcg", NULL },
		[GUEST_ACCEL_KVM] = { "-accel", "kvm", NULL },
		[GUEST_ACCEL_TCG] = { "-accel", "tcg", NULL },
	};
	char cpus[16], memory[16], initrd[PATH_MAX], append[1024];
	char *argv[WORDS_MAX];
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setpgid(0, 0); /* Ctrl-C is the validator's */
	/* A copy of a descriptor stays open for QEMU. */
	if (*options->initrd)
		(void)snprintf(initrd, sizeof(initrd), "%s", options->initrd);
	else
		(void)snprintf(initrd, sizeof(initrd), "/proc/self/fd/%d", dup(image));
	(void)snprintf(cpus, sizeof(cpus), "%u", options->cpus);
	(void)snprintf(memory, sizeof(memory), "%u", options->memory_mib);
	(void)snprintf(append, sizeof(append), "console=" SERIAL_TERMINAL " quiet panic=-1 %s",
		       options->append);
	static const char named[] = "guest=" GUEST_NAME;
	const char *const first[] = { QEMU, "-name", named, "-uuid", uuid, NULL };
	const char *const last[] = { "-machine", MACHINE, "-cpu",    "max",     "-smp",
				     cpus,       "-m",    memory,    "-kernel", kernel,
				     "-initrd",  initrd,  "-append", append,    "-nodefaults",
				     "-display", "none",  "-nic",    "none",    "-no-reboot",
				     "-serial",  "stdio", NULL };
	size_t count = add_words(argv, 0, first);
	count = add_words(argv, count, accelerators[options->accel]);
	count = add_words(argv, count, last);
	argv[count] = NULL;
	if (dup2(console, STDIN_FILENO) >= 0 && dup2(console, STDOUT_FILENO) >= 0 &&
	    dup2(console, STDERR_FILENO) >= 0)
		(void)execvp(argv[0], argv);
	(void)dprintf(STDERR_FILENO, QEMU ": %s\n", strerror(errno));
	_exit(EXIT_FAILURE);
}

int guest_machine_start(const struct guest_options *options, const char *uuid,
			struct guest_machine *ret, struct diag *diag)
{
	char kernel[PATH_MAX] = "";
	pid_t parent = getpid();
	int ends[2];
	int r = find_kernel(options->kernel, kernel, sizeof(kernel), diag);

	if (r < 0)
		return r;
	if (*options->initrd && access(options->initrd, R_OK) < 0)
		return diag_set(diag, -errno, "vm.initrd: %s cannot be read: %s", options->initrd,
				strerror(errno));
	CLEANUP_FD int image = guest_image_open();
	if (image < 0)
		return diag_set(diag, image, "vm: the guest's files cannot be written: %s",
				strerror(-image));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return diag_set(diag, -errno, "vm: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0)
		be_qemu(options, kernel, uuid, image, ends[1], parent);
	r = pid < 0 ? -errno : 0;
	(void)close(ends[1]);
	if (r < 0) {
		(void)close(ends[0]);
		return diag_set(diag, r, "vm: " QEMU " cannot be started: %s", strerror(-r));
	}
	*ret = (struct guest_machine){ .pid = pid, .console = ends[0], .cpus = options->cpus };
	return 0;
}

static void take_byte(struct guest_machine *machine, char byte)
{
	if (byte != '\n' && byte != '\r') {
		/* The beginning of a line that is too long counts. */
		if (machine->line_len + 1 < sizeof(machine->line) && byte >= ' ')
			machine->line[machine->line_len++] = byte;
		return;
	}
	machine->line[machine->line_len] = '\0';
	machine->is_ready = machine->is_ready || strstr(machine->line, GUEST_READY);
	if (machine->line_len > 0)
		memcpy(machine->last, machine->line, machine->line_len + 1);
	machine->line_len = 0;
}

void guest_machine_listen(struct guest_machine *machine)
{
	char bytes[4096];
	ssize_t len;

	while (machine->pid > 0 &&
	       (len = recv(machine->console, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		for (ssize_t i = 0; i < len; i++)
			take_byte(machine, bytes[i]);
}

bool guest_machine_has_ended(const struct guest_machine *machine)
{
	siginfo_t info = { 0 };

	return machine->pid > 0 &&
	       waitid(P_PID, (id_t)machine->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == machine->pid;
}

static void say(const struct guest_machine *machine, char word)
{
	const char line[] = { word, '\n' };

	/* A machine that does not read has ended, or is too busy: its CPU time shows it. */
	(void)send(machine->console, line, sizeof(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void guest_machine_work(struct guest_machine *machine, bool is_busy)
{
	guest_machine_listen(machine);
	if (machine->pid > 0 && !is_busy)
		say(machine, GUEST_REST);
	for (uint32_t i = 0; i < machine->cpus && machine->pid > 0 && is_busy; i++)
		say(machine, GUEST_WORK);
}

void guest_machine_stop(struct guest_machine *machine)
{
	if (machine->pid <= 0)
		return;
	(void)kill(machine->pid, SIGKILL);
	while (waitpid(machine->pid, NULL, 0) < 0 && errno == EINTR)
		;
	(void)close(machine->console);
	*machine = (struct guest_machine){ .console = -1 };
}
