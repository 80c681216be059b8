// SPDX-License-Identifier: Apache-2.0
/*
 * The handler runs on the thread that made the call, at any point: it only changes numbers in
 * static memory, atomically, and the registers that it was given. denied_calls_tell() looks names
 * up later.
 */
#include "service/denied_calls.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/log.h"
#include "base/macro.h"

#ifdef HAVE_SECCOMP

#include <seccomp.h>

#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1 /* linux/signal.h, which clashes with signal.h */
#endif

/* Numbers at and beyond the last share its place. Kernels of today are below 480. */
#define CALLS_MAX 640

struct denied_call {
	uint32_t count;
	uint32_t arguments[2]; /* of the first: the lower half of the first two */
	bool told;             /* the loop's own */
};

static struct denied_call calls[CALLS_MAX];
static uint64_t total, total_told;
static int last_known = CALLS_MAX;

/* The arguments that select the operation of a call. */
static const struct {
	const char *name;
	unsigned argument;
} commands[] = { { "ioctl", 1 }, { "prctl", 0 }, { "bpf", 0 }, { "socket", 0 }, { "clone", 0 } };

#if defined(__x86_64__)
static void get_arguments(const ucontext_t *context, uint32_t arguments[2])
{
	arguments[0] = (uint32_t)context->uc_mcontext.gregs[REG_RDI];
	arguments[1] = (uint32_t)context->uc_mcontext.gregs[REG_RSI];
}
static void set_result(ucontext_t *context, int result)
{
	context->uc_mcontext.gregs[REG_RAX] = result;
}
#elif defined(__aarch64__)
static void get_arguments(const ucontext_t *context, uint32_t arguments[2])
{
	arguments[0] = (uint32_t)context->uc_mcontext.regs[0];
	arguments[1] = (uint32_t)context->uc_mcontext.regs[1];
}
static void set_result(ucontext_t *context, int result)
{
	context->uc_mcontext.regs[0] = (unsigned long long)result;
}
#elif defined(__s390x__)
static void get_arguments(const ucontext_t *context, uint32_t arguments[2])
{
	arguments[0] = (uint32_t)context->uc_mcontext.gregs[2];
	arguments[1] = (uint32_t)context->uc_mcontext.gregs[3];
}
static void set_result(ucontext_t *context, int result)
{
	context->uc_mcontext.gregs[2] = (unsigned long)result;
}
#elif defined(__powerpc64__)
static void get_arguments(const ucontext_t *context, uint32_t arguments[2])
{
	/* register 3 may have been rewritten as a result already */
	arguments[0] = (uint32_t)context->uc_mcontext.gp_regs[PT_ORIG_R3];
	arguments[1] = (uint32_t)context->uc_mcontext.gp_regs[PT_R4];
}
static void set_result(ucontext_t *context, int result)
{
	unsigned long *registers = context->uc_mcontext.gp_regs;

	/* `scv` returns -errno; `sc` returns errno and sets the bit of summary overflow. */
	if ((registers[PT_TRAP] & ~0xfUL) == 0x3000) {
		registers[PT_R3] = (unsigned long)result;
	} else {
		registers[PT_R3] = (unsigned long)-result;
		registers[PT_CCR] |= 0x10000000;
	}
}
#elif defined(__riscv) && __riscv_xlen == 64
static void get_arguments(const ucontext_t *context, uint32_t arguments[2])
{
	arguments[0] = (uint32_t)context->uc_mcontext.__gregs[REG_A0];
	arguments[1] = (uint32_t)context->uc_mcontext.__gregs[REG_A0 + 1];
}
static void set_result(ucontext_t *context, int result)
{
	context->uc_mcontext.__gregs[REG_A0] = (unsigned long)result;
}
#else
#error "how does a system call of this architecture get its arguments and result?"
#endif

static void answer(int signal_number, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	int number = info->si_syscall;
	bool has_place = number >= 0 && number < CALLS_MAX;
	struct denied_call *call = &calls[has_place ? number : CALLS_MAX - 1];

	(void)signal_number;
	if (info->si_code != SYS_SECCOMP)
		return; /* the signal was sent by a process: no call waits for a result */
	if (__atomic_fetch_add(&call->count, 1, __ATOMIC_RELAXED) == 0)
		get_arguments(context, call->arguments);
	(void)__atomic_fetch_add(&total, 1, __ATOMIC_RELEASE);
	set_result(context, number > last_known ? -ENOSYS : -EPERM);
}

static char *name_of(int number)
{
	return seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
}

int denied_calls_catch(void)
{
	struct sigaction action = { .sa_sigaction = answer, .sa_flags = SA_SIGINFO };
	char *name = NULL;

	for (last_known = CALLS_MAX - 1; !name && last_known > 0; last_known--)
		name = name_of(last_known);
	last_known += name != NULL;
	free(name);
	(void)sigemptyset(&action.sa_mask);
	return sigaction(SIGSYS, &action, NULL) < 0 ? -errno : 0;
}

uint64_t denied_calls_count(void)
{
	return __atomic_load_n(&total, __ATOMIC_ACQUIRE);
}

static void tell(int number, const struct denied_call *call)
{
	CLEANUP_FREE char *name = name_of(number);
	const char *answered = number > last_known ? "ENOSYS" : "EPERM";

	for (size_t i = 0; name && i < ARRAY_SIZE(commands); i++) {
		if (strcmp(name, commands[i].name) != 0)
			continue;
		log_warn("a system call is not in the filter's list and was denied: %s of %#x "
			 "gets %s",
			 name, call->arguments[commands[i].argument], answered);
		return;
	}
	log_warn("a system call is not in the filter's list and was denied: %s (%d) gets %s",
		 name ? name : "unknown", number, answered);
}

void denied_calls_tell(void)
{
	uint64_t now = denied_calls_count();

	if (now == total_told)
		return;
	total_told = now;
	for (int number = 0; number < CALLS_MAX; number++) {
		if (calls[number].told || !__atomic_load_n(&calls[number].count, __ATOMIC_RELAXED))
			continue;
		calls[number].told = true;
		tell(number, &calls[number]);
	}
}

#else

int denied_calls_catch(void)
{
	return -EOPNOTSUPP;
}

uint64_t denied_calls_count(void)
{
	return 0;
}

void denied_calls_tell(void)
{
}

#endif
