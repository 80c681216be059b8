// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/model_exporter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "net/http_client.h"

#define READY_S      60
#define STOP_S       10
#define POLL_US      100000
#define REQUEST_MS   2000
#define ANSWER_MAX   (1U << 20)
#define OWN_PREFIX   "KEPLER_"
#define ARGUMENT_MAX 4096

/* A port that was free a moment ago; 0: none. */
static unsigned find_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	CLEANUP_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (const struct sockaddr *)(const void *)&address, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)(void *)&address, &len) < 0)
		return 0;
	return ntohs(address.sin_port);
}

static void find_program(const char *given, char *buf, size_t size)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash = NULL;

	if (len > 0) {
		self[len] = '\0';
		slash = strrchr(self, '/');
	}
	(void)snprintf(buf, size, "%s", *given ? given : "kepler");
	if (*given || !slash)
		return;
	*slash = '\0';
	if (path_join(buf, size, self, "kepler") < 0 || access(buf, X_OK) < 0)
		(void)snprintf(buf, size, "kepler");
}

static bool is_url(const char *model)
{
	return strstr(model, "://") != NULL;
}

static bool is_file(const char *model)
{
	return strcmp(model, "builtin") != 0 && !is_url(model);
}

/* Options of the other Kepler on this machine are not this one's. */
static void drop_own_environment(void)
{
	extern char **environ;

	for (char **at = environ; *at;) {
		char name[256];
		size_t len = strcspn(*at, "=");

		if (strncmp(*at, OWN_PREFIX, strlen(OWN_PREFIX)) != 0 || len >= sizeof(name)) {
			at++;
			continue;
		}
		memcpy(name, *at, len);
		name[len] = '\0';
		(void)unsetenv(name); /* the list moves up */
	}
}

__attribute__((noreturn)) static void be_kepler(const struct model_exporter_options *options,
						const char *program, unsigned port, pid_t parent,
						int log_fd)
{
	char sysfs[ARGUMENT_MAX], procfs[ARGUMENT_MAX], model[ARGUMENT_MAX], listen[64];
	char *const args[] = { (char[]){ "kepler" },
			       (char[]){ "run" },
			       (char[]){ "--config.file=/dev/null" },
			       (char[]){ "--host.state-dir=" },
			       (char[]){ "--no-meter.enabled" },
			       (char[]){ "--monitor.interval=1s" },
			       (char[]){ "--kube.pods=off" },
			       (char[]){ "--no-runtimes.enabled" },
			       sysfs,
			       procfs,
			       listen,
			       model,
			       NULL };
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setpgid(0, 0); /* Ctrl-C is the validator's */
	(void)snprintf(sysfs, sizeof(sysfs), "--host.sysfs=%s", options->sysfs);
	(void)snprintf(procfs, sizeof(procfs), "--host.procfs=%s", options->procfs);
	(void)snprintf(listen, sizeof(listen), "--web.listen-address=127.0.0.1:%u", port);
	(void)snprintf(model, sizeof(model), "%s%s",
		       is_url(options->model)    ? "--model.url="
		       : is_file(options->model) ? "--model.file="
						 : "--model.parts=all",
		       strcmp(options->model, "builtin") == 0 ? "" : options->model);
	drop_own_environment();
	if (dup2(log_fd, STDOUT_FILENO) >= 0 && dup2(log_fd, STDERR_FILENO) >= 0)
		(void)execvp(program, args);
	(void)dprintf(STDERR_FILENO, "%s: %s\n", program, strerror(errno));
	_exit(EXIT_FAILURE);
}

static int take_nothing(void *userdata, const char *bytes, size_t len)
{
	(void)userdata;
	(void)bytes;
	(void)len;
	return 0;
}

static bool is_ready(struct http_client *http, unsigned port)
{
	char url[64];
	const struct http_request_options request = {
		.url = url,
		.accept = "*/*",
		.connect_timeout_ms = REQUEST_MS,
		.timeout_ms = REQUEST_MS,
		.max_bytes = ANSWER_MAX,
	};
	struct http_reply reply = { 0 };
	struct diag ignored = { "" };

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/readyz", port);
	return http_client_get(http, &request, take_nothing, NULL, &reply, &ignored) == 0 &&
	       reply.status == 200;
}

static int say_why(int log_fd, const char *program, const char *what, struct diag *diag)
{
	char text[4096];
	off_t end = lseek(log_fd, 0, SEEK_END);
	off_t from = end > (off_t)sizeof(text) - 1 ? end - (off_t)sizeof(text) + 1 : 0;
	ssize_t len = pread(log_fd, text, sizeof(text) - 1, from);

	while (len > 0 && text[len - 1] == '\n')
		len--;
	text[len > 0 ? len : 0] = '\0';
	const char *line = strrchr(text, '\n');
	return diag_set(diag, -ECHILD, "estimates: %s %s: %.300s", program, what,
			line ? line + 1 : text);
}

static int wait_until_ready(struct model_exporter *exporter, const char *program, unsigned port,
			    int log_fd, struct diag *diag)
{
	const struct http_client_options options = { .user_agent = "kepler-validator",
						     .cancel_fd = -1 };
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + READY_S * NSEC_PER_SEC;
	struct http_client *http;
	int r = http_client_new(&options, &http, diag);

	if (r < 0)
		return r;
	r = 1;
	while (r > 0) {
		if (waitpid(exporter->pid, NULL, WNOHANG) == exporter->pid) {
			exporter->pid = 0;
			r = say_why(log_fd, program, "has ended", diag);
		} else if (is_ready(http, port)) {
			r = 0;
		} else if (clock_ns(CLOCK_MONOTONIC) > end_ns) {
			r = say_why(log_fd, program, "does not get ready", diag);
		} else {
			(void)usleep(POLL_US);
		}
	}
	http_client_free(http);
	return r;
}

/* A fragment is not sent: it says in reports which model it is. */
static void name_url(const char *model, unsigned port, struct model_exporter *exporter)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-:/";

	(void)snprintf(exporter->url, sizeof(exporter->url), "http://127.0.0.1:%u/metrics#%s", port,
		       model);
	for (char *c = strchr(exporter->url, '#') + 1; *c; c++)
		if (!strchr(plain, *c))
			*c = '_';
}

static void name_place(const char *model, struct model_exporter *exporter)
{
	const char *slash = strrchr(model, '/');

	if (is_url(model))
		model = "model.url";
	else if (!is_file(model))
		model = "";
	else if (slash && slash[1])
		model = slash + 1;
	(void)snprintf(exporter->place, sizeof(exporter->place), "%s", model);
}

int model_exporter_start(const struct model_exporter_options *options, struct model_exporter *ret,
			 struct diag *diag)
{
	char program[PATH_MAX];
	unsigned port = find_port();
	pid_t parent = getpid();

	*ret = (struct model_exporter){ .pid = 0 };
	if (port == 0)
		return diag_set(diag, -errno, "estimates: 127.0.0.1 has no free port: %s",
				strerror(errno));
	/* Kepler itself would wait for such a file. */
	if (is_file(options->model) && access(options->model, R_OK) < 0)
		return diag_set(diag, -errno, "estimates: %s cannot be read: %s", options->model,
				strerror(errno));
	find_program(options->kepler, program, sizeof(program));
	CLEANUP_FD int log_fd = memfd_create("kepler-log", MFD_CLOEXEC);
	if (log_fd < 0)
		return diag_set(diag, -errno, "estimates: no memory for a log: %s",
				strerror(errno));
	pid_t pid = fork();
	if (pid == 0)
		be_kepler(options, program, port, parent, log_fd);
	if (pid < 0)
		return diag_set(diag, -errno, "estimates: %s cannot be started: %s", program,
				strerror(errno));
	ret->pid = pid;
	name_url(options->model, port, ret);
	name_place(options->model, ret);
	int r = wait_until_ready(ret, program, port, log_fd, diag);
	if (r < 0)
		model_exporter_stop(ret);
	return r;
}

void model_exporter_stop(struct model_exporter *exporter)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + STOP_S * NSEC_PER_SEC;
	pid_t ended = 0;

	if (exporter->pid <= 0)
		return;
	(void)kill(exporter->pid, SIGTERM);
	while (ended == 0) {
		ended = waitpid(exporter->pid, NULL, WNOHANG);
		if (ended < 0 && errno == EINTR)
			ended = 0;
		if (ended == 0 && clock_ns(CLOCK_MONOTONIC) > end_ns)
			(void)kill(exporter->pid, SIGKILL);
		if (ended == 0)
			(void)usleep(POLL_US);
	}
	exporter->pid = 0;
}
