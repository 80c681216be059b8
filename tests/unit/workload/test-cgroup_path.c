// SPDX-License-Identifier: Apache-2.0
/* Paths as runtimes make them, and paths that only look so: docs/design/owners.md. */
#include "workload/cgroup/cgroup_path.h"

#include "tests/unit/unit.h"
#include "workload/cgroup/cgroup_path_unit.h"

#define ID     "3f1c0d52a9e84b7760d1c2f8e5a4b39017c6d8e2f4a1b0935c7e6d8f2a4b1c30"
#define INNER  "b7d2a90e41c85f3362f7e8d1a0c9b45876e3f2d1c0b9a8877665544332211000"
#define OUTER  "3f1c0d52a9e8" /* the form of ID in the keys of containers in it */
#define UID    "5f0c7a3e-1b2d-4c6f-9a8b-0d1e2f3a4b5c"
#define UID_S  "5f0c7a3e_1b2d_4c6f_9a8b_0d1e2f3a4b5c"
#define UID2   "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
#define HASH   "9c1b7e3d5a2f4860b1d3f5a7c9e0b2d4" /* a static pod */
#define BUILD  "k2v8q0z4m7x1c3b5n9a6s8d0f"
#define POD_S  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_S ".slice/"
#define POD    "/kubepods/burstable/pod" UID "/"
#define GARDEN "0c1d2e3f-4a5b-6c7d-8e9f-0a1b"
#define USER   "/user.slice/user-1000.slice/user@1000.service"

struct vector {
	const char *path;
	enum owner_kind kind;
	const char *runtime, *id, *pod_id;
};

#define C(path, runtime, id, pod)                                                                  \
	{                                                                                          \
		path, OWNER_CONTAINER, runtime, id, pod                                            \
	}
#define UNIT(path, id)                                                                             \
	{                                                                                          \
		path, OWNER_UNIT, "", id, ""                                                       \
	}
#define VM(path, id)                                                                               \
	{                                                                                          \
		path, OWNER_VM, "", id, ""                                                         \
	}
#define JOB(path, scheduler, id)                                                                   \
	{                                                                                          \
		path, OWNER_JOB, scheduler, id, ""                                                 \
	}
#define NONE(path)                                                                                 \
	{                                                                                          \
		path, OWNER_SYSTEM, "", "system_processes", ""                                     \
	}

static const struct vector docker[] = {
	C("/system.slice/docker-" ID ".scope", "docker", ID, ""),
	C("/docker/" ID, "docker", ID, ""),
	C("/docker/" ID "/", "docker", ID, ""),
	C("/docker/" ID " (deleted)", "docker", ID, ""),
	C("/system.slice/docker-" ID ".scope (deleted)", "docker", ID, ""),
	C("/build.slice/build-ci.slice/docker-" ID ".scope", "docker", ID, ""),
	C("/ci/runner/" ID, "", ID, ""),
	C("/actions_job/" ID, "docker", ID, ""),
	C("/" ID, "", ID, ""),
	C("/system.slice/" ID, "", ID, ""),
	C("/../../docker/" ID, "docker", ID, ""),
	C("/../" ID, "", ID, ""),
	C("/system.slice/docker-" ID ".scope/init.scope", "docker", ID, ""),
	C("/docker/" ID "/system.slice/nginx.service", "docker", ID, ""),
	C("/docker/" ID "/user.slice/user-0.slice/session-1.scope", "docker", ID, ""),
	C("/ecs/4d1f0c9b8a7e4d5c8b6a5f4e3d2c1b0a/" ID, "", ID, ""),
	C("/ecstasks.slice/ecstasks-4d1f.slice/docker-" ID ".scope", "docker", ID, ""),
	C("/system.slice/docker.service/docker/" ID, "docker", ID, ""),
	C("/moby/" ID, "docker", ID, ""),
	C(USER "/user.slice/docker-" ID ".scope", "docker", ID "@1000", ""),
};

static const struct vector containerd[] = {
	C("/system.slice/cri-containerd-" ID ".scope", "containerd", ID, ""),
	C("/system.slice/containerd-" ID ".scope", "containerd", ID, ""),
	C("/system.slice/nerdctl-" ID ".scope", "containerd", ID, ""),
	C("/default/" ID, "containerd", ID, ""),
	C("/k8s.io/" ID, "containerd", ID, ""),
	C(POD_S "cri-containerd-" ID ".scope", "containerd", ID, UID),
	C(POD_S "cri-containerd-" ID ".scope/init.scope", "containerd", ID, UID),
	C(POD_S "cri-containerd-" ID ".scope/system.slice/x.service", "containerd", ID, UID),
	C("/system.slice/containerd.service/kubepods-burstable-pod" UID_S
	  ".slice:cri-containerd:" ID,
	  "containerd", ID, UID),
	C("/kubepods-besteffort-pod" UID_S ".slice:cri-containerd:" ID, "containerd", ID, UID),
	C("/system.slice:docker:" ID, "docker", ID, ""),
	C("/system.slice/k3s.service/kubepods/besteffort/pod" UID "/" ID, "kubernetes", ID, UID),
	C("/system.slice/snap.microk8s.daemon-containerd.service/kubepods/pod" UID "/" ID,
	  "kubernetes", ID, UID),
};

static const struct vector pods[] = {
	C(POD ID, "kubernetes", ID, UID),
	C("/kubepods/besteffort/pod" UID "/" ID, "kubernetes", ID, UID),
	C("/kubepods/pod" UID "/" ID, "kubernetes", ID, UID),
	C("/kubepods/burstable/pod" HASH "/" ID, "kubernetes", ID, HASH),
	C("/kubelet/kubepods/burstable/pod" UID "/" ID, "kubernetes", ID, UID),
	C(POD "crio-" ID, "cri-o", ID, UID),
	C(POD "libpod-" ID, "podman", ID, UID),
	C(POD "kata_" ID, "kata", ID, UID),
	C(POD_S "docker-" ID ".scope", "docker", ID, UID),
	C(POD_S "crio-" ID ".scope", "cri-o", ID, UID),
	C(POD_S "crio-" ID ".scope/container", "cri-o", ID, UID),
	C("/kubepods.slice/kubepods-pod" UID_S ".slice/crio-" ID ".scope", "cri-o", ID, UID),
	C("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" HASH ".slice/crio-" ID
	  ".scope",
	  "cri-o", ID, HASH),
	C("/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_S
	  ".slice/cri-containerd-" ID ".scope",
	  "containerd", ID, UID),
	C("/../../kubepods-burstable-pod" UID_S ".slice/crio-" ID ".scope", "cri-o", ID, UID),
	C("/../../pod" UID "/" ID, "kubernetes", ID, UID),
	C("/../../../besteffort/pod" UID "/" ID, "kubernetes", ID, UID),
	C(POD, "kubernetes", "pod" UID, UID),
	C(POD_S, "kubernetes", "pod" UID, UID),
	C(POD "kata_overhead", "kubernetes", "pod" UID, UID),
	C(POD_S "crio-conmon-" ID ".scope", "kubernetes", "pod" UID, UID),
	C(USER "/k3s-rootless.service/kubepods/pod" UID "/" ID, "kubernetes", ID "@1000",
	  UID "@1000"),
	NONE("/kubepods"),
	NONE("/kubepods/burstable"),
	NONE("/kubepods.slice/kubepods-burstable.slice"),
	NONE("/kubepods/burstable/pod" UID_S "/x"), /* underscores are the systemd driver's */
	NONE("/pod" UID "/x"),
	NONE("/kubepods/podx"),
	NONE("/kubepods.slice/kubepods-burstable-pod" UID ".slice"),
	NONE("/kubepods.slice/xkubepods-pod" UID_S ".slice"),
	C("/kubepodsx/pod" UID "/" ID, "", ID, ""),
};

static const struct vector podman[] = {
	C("/machine.slice/libpod-" ID ".scope", "podman", ID, ""),
	C("/machine.slice/libpod-" ID ".scope/container", "podman", ID, ""),
	C("/machine.slice/libpod-" ID ".scope/container/system.slice/a.service", "podman", ID, ""),
	C("/machine.slice/machine-libpod_pod_" INNER ".slice/libpod-" ID ".scope/container",
	  "podman", ID, ""),
	C("/libpod_parent/libpod-" ID, "podman", ID, ""),
	C("/libpod_parent/" INNER "/libpod-" ID, "podman", ID, ""),
	NONE("/libpod_parent/" INNER),
	NONE("/libpod_parent/conmon"),
	C("/system.slice/web.service/libpod-payload-" ID, "podman", ID, ""),
	C("/system.slice/web.service/libpod-payload-" ID "/container", "podman", ID, ""),
	C(USER "/user.slice/libpod-" ID ".scope", "podman", ID "@1000", ""),
	C(USER "/user.slice/libpod-" ID ".scope/container", "podman", ID "@1000", ""),
	C(USER "/user.slice/user-libpod_pod_" INNER ".slice/libpod-" ID ".scope/container",
	  "podman", ID "@1000", ""),
	C(USER "/app.slice/web.service/libpod-payload-" ID, "podman", ID "@1000", ""),
	C("/user.slice/user-1001.slice/user@1001.service/user.slice/libpod-" ID ".scope", "podman",
	  ID "@1001", ""),
	UNIT("/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope"),
	UNIT("/system.slice/web.service/supervisor", "web.service"),
	UNIT("/system.slice/web.service/a/libpod-payload-" ID, "web.service"),
};

static const struct vector others[] = {
	C("/lxc.payload.web", "lxc", "lxc/web", ""),
	C("/lxc.payload.web/init.scope", "lxc", "lxc/web", ""),
	C("/lxc.payload.web/system.slice/nginx.service", "lxc", "lxc/web", ""),
	C("/lxc.payload/web", "lxc", "lxc/web", ""),
	C("/lxc/101", "lxc", "lxc/101", ""),
	C("/lxc/101/ns/init.scope", "lxc", "lxc/101", ""),
	C("/system.slice/lxc@web.service/lxc.payload.web", "lxc", "lxc/web", ""),
	C(USER "/app.slice/run-r1.scope/lxc.payload.web", "lxc", "lxc/web@1000", ""),
	NONE("/lxc.monitor.web"),
	NONE("/lxc"),
	C("/machine.slice/systemd-nspawn@web.service/payload", "nspawn", "nspawn/web", ""),
	C("/machine.slice/machine-web\\x2d1.scope", "nspawn", "nspawn/web\\x2d1", ""),
	C("/machine.slice/machine-lxc\\x2d77\\x2dweb.scope", "libvirt-lxc", "libvirt-lxc/web", ""),
	C("/machine/lxc-77-web.libvirt-lxc", "libvirt-lxc", "libvirt-lxc/web", ""),
	C("/buildkit/" BUILD, "buildkit", "buildkit/" BUILD, ""),
	C("/docker/buildkit/" BUILD, "buildkit", "buildkit/" BUILD, ""),
	C("/system.slice/buildkit-" BUILD ".scope", "buildkit", "buildkit/" BUILD, ""),
	C("/mesos/" UID, "mesos", "mesos/" UID, ""),
	C("/garden/" UID, "garden", "garden/" UID, ""),
	C("/garden/good/" UID, "garden", "garden/" UID, ""),
	C("/system.slice/garden.service/garden/" UID, "garden", "garden/" UID, ""),
	C("/garden/" GARDEN, "garden", "garden/" GARDEN, ""),
	C("/garden/" GARDEN "/init", "garden", "garden/" GARDEN, ""),
	C("/system.slice/garden.service/garden/good/" GARDEN, "garden", "garden/" GARDEN, ""),
	C("/system.slice/garden.service/garden/" GARDEN "-liveness-healthcheck-0", "garden",
	  "garden/" GARDEN "-liveness-healthcheck-0", ""),
	NONE("/good/music"),
	C("/nomad.slice/share.slice/" UID ".web.scope", "nomad", "nomad/" UID ".web", ""),
	NONE("/garden/good"),
	NONE("/mesos/x"),
	NONE("/buildkit/short"),
};

/* The innermost owns, the outermost pod is the pod; keys carry the outermost container. */
static const struct vector nested[] = {
	C("/docker/" ID "/docker/" INNER, "docker", INNER "@" OUTER, ""),
	C("/docker/" ID "/system.slice/docker-" INNER ".scope", "docker", INNER "@" OUTER, ""),
	C("/docker/" ID "/kubelet/kubepods/besteffort/pod" UID "/" INNER, "kubernetes",
	  INNER "@" OUTER, UID),
	C("/system.slice/docker-" ID ".scope/kubelet.slice/kubelet-kubepods.slice/"
	  "kubelet-kubepods-pod" UID_S ".slice/cri-containerd-" INNER ".scope",
	  "containerd", INNER "@" OUTER, UID),
	C("/docker/" ID "/kubepods/burstable/pod" UID "/" INNER, "kubernetes", INNER "@" OUTER,
	  UID),
	C(POD ID "/docker/" INNER, "docker", INNER "@" OUTER, UID),
	C(POD ID "/kubepods/pod" UID2 "/" INNER, "kubernetes", INNER "@" OUTER, UID),
	C("/lxc.payload.web/system.slice/docker-" ID ".scope", "docker", ID "@lxc/web", ""),
	C("/lxc.payload.web/lxc.payload.in", "lxc", "lxc/in@lxc/web", ""),
	C("/mesos/" UID "/mesos/" UID2, "mesos", "mesos/" UID2 "@mesos/" UID, ""),
	C(USER "/user.slice/libpod-" ID ".scope/container/docker/" INNER, "docker",
	  INNER "@" OUTER "@1000", ""),
	C("/docker/" ID "/machine.slice/machine-qemu\\x2d1\\x2dx.scope", "docker", ID, ""),
	C("/docker/" ID "/slurm/uid_0/job_7", "docker", ID, ""),
	C("/docker/" ID "/user.slice/user-1.slice/user@1.service/a.slice/b.service", "docker", ID,
	  ""),
};

static const struct vector machines[] = {
	VM("/machine.slice/machine-qemu\\x2d6\\x2dcirros.scope", "qemu/cirros"),
	VM("/machine.slice/machine-qemu\\x2d6\\x2dcirros.scope/libvirt/emulator", "qemu/cirros"),
	VM("/machine.slice/machine-qemu\\x2d12\\x2dweb\\x2d01.scope/libvirt/vcpu0", "qemu/web-01"),
	VM("/machine.slice/machine-qemu\\x2dold.scope", "qemu/old"),
	VM("/machine.slice/machine-ch\\x2d1\\x2dmicro.scope", "cloud-hypervisor/micro"),
	VM("/machine/qemu-1-web01.libvirt-qemu/emulator", "qemu/web01"),
	VM("/machine/qemu-1-web01.libvirt-qemu/vcpu3", "qemu/web01"),
	VM("/machine/web01.libvirt-qemu", "qemu/web01"),
	VM("/machine.slice/qemu-2-x.libvirt-qemu", "qemu/x"),
	VM("/libvirt/qemu/web01/vcpu0", "qemu/web01"),
	VM("/qemu.slice/101.scope", "qemu/101"),
	VM("/firecracker/vm-7", "firecracker/vm-7"),
	UNIT("/system.slice/machine-qemu\\x2d6\\x2dcirros.scope",
	     "machine-qemu\\x2d6\\x2dcirros.scope"),
	UNIT(USER "/app.slice/machine-qemu\\x2d6\\x2dx.scope",
	     "user-1000.slice/machine-qemu\\x2d6\\x2dx.scope"),
	NONE("/machine/qemu-1-web01"),
};

static const struct vector jobs[] = {
	JOB("/slurm/uid_1000/job_42/step_0/task_0", "slurm", "job_42"),
	JOB("/slurm/uid_1000/job_42/step_batch", "slurm", "job_42"),
	JOB("/slurm_node1/uid_1000/job_42", "slurm", "job_42"),
	JOB("/slurm/job_42", "slurm", "job_42"),
	JOB("/system.slice/slurmstepd.scope/job_42/step_0/user/task_0", "slurm", "job_42"),
	JOB("/system.slice/node1_slurmstepd.scope/job_42", "slurm", "job_42"),
	JOB("/system.slice/slurmstepd.scope/s6QW2E3R4T5Y00/step_0/user/task_0", "slurm",
	    "job_s6QW2E3R4T5Y00"),
	JOB("/system.slice/node1_slurmstepd.scope/s6QW2E3R4T5Y01/step_extern", "slurm",
	    "job_s6QW2E3R4T5Y01"),
	UNIT("/system.slice/slurmstepd.scope/s6QW2E3R4T5Y0", "slurmstepd.scope"),
	UNIT("/system.slice/slurmstepd.scope/s6QW2E3R4T5YIO", "slurmstepd.scope"),
	JOB("/system.slice/condor.service/htcondor/condor_slot1_1@node", "htcondor",
	    "job_condor_slot1_1@node"),
	JOB("/pbs_jobs.service/jobid/1234.server", "pbs", "job_1234.server"),
	JOB("/pbs_jobs.service/jobs/1234.server/x", "pbs", "job_1234.server"),
	JOB("/pbspro.slice/pbspro-1234.server.slice", "pbs", "job_1234.server"),
	JOB("/torque/1234.server", "torque", "job_1234.server"),
	JOB("/oar/anna_77", "oar", "job_77"),
	JOB("/oar.slice/oar-u1000.slice/oar-u1000-j77.slice", "oar", "job_77"),
	JOB("/lsf/east/job.99.1.2", "lsf", "job_99"),
	JOB("/htcondor/condor_slot1_1@node", "htcondor", "job_condor_slot1_1@node"),
	UNIT("/system.slice/slurmstepd.scope/system", "slurmstepd.scope"),
	UNIT("/system.slice/slurmd.service", "slurmd.service"),
	UNIT("/pbs_jobs.service/jobid", "pbs_jobs.service"),
	NONE("/slurm/uid_1000/job_4x"),
	NONE("/job_42"),
	NONE("/other/uid_1000/job_42"),
	NONE("/oar.slice/oar-u1000.slice"),
	NONE("/oar/anna"),
};

/* Made by a user that may name a cgroup freely, or with one digit wrong. */
static const struct vector look_alikes[] = {
	UNIT("/machine.slice/machine-lxc\\x2d2\\.scope", "machine-lxc\\x2d2\\.scope"),
	UNIT("/user.slice/user-1000.slice/docker-" ID ".scope", "docker-" ID ".scope"),
	UNIT("/user.slice/docker-" ID ".scope", "docker-" ID ".scope"),
	UNIT("/user.slice/user-1000.slice/session-3.scope/docker/" ID, "session-3.scope"),
	UNIT("/user.slice/user-1000.slice/session-3.scope/kubepods/pod" UID "/" ID,
	     "session-3.scope"),
	NONE("/user.slice/user-1000.slice/" ID),
	C(USER "/app.slice/docker-" ID ".scope", "docker", ID "@1000", ""),
	C(USER "/app.slice/evil.service/kubepods/pod" UID "/" ID, "kubernetes", ID "@1000",
	  UID "@1000"),
	UNIT("/system.slice/web.service/docker/" ID, "web.service"),
	UNIT("/system.slice/web.service/docker-" ID ".scope", "web.service"),
	UNIT("/system.slice/web.service/" ID, "web.service"),
	UNIT("/system.slice/web.service/kubepods/pod" UID "/" ID, "web.service"),
	UNIT("/system.slice/web.service/slurmstepd.scope/job_42", "web.service"),
	UNIT("/system.slice/web.service/pbs_jobs.service/jobid/1.x", "web.service"),
	UNIT("/system.slice/web.service/user@0.service/docker-" ID ".scope", "web.service"),
	UNIT("/system.slice/web.service/machine.slice/machine-qemu\\x2d1\\x2dx.scope",
	     "web.service"),
	UNIT("/system.slice/docker.services.service/docker/" ID, "docker.services.service"),
	UNIT("/system.slice/docker-" ID "0.scope", "docker-" ID "0.scope"),
	UNIT("/system.slice/docker-0" ID ".scope", "docker-0" ID ".scope"),
	UNIT("/system.slice/docker-" ID ".service", "docker-" ID ".service"),
	UNIT("/system.slice/Docker-" ID ".scope", "Docker-" ID ".scope"),
	UNIT("/system.slice/xdocker-" ID ".scope", "xdocker-" ID ".scope"),
	UNIT("/system.slice/docker_" ID ".scope", "docker_" ID ".scope"),
	UNIT("/system.slice/-" ID ".scope", "-" ID ".scope"),
	UNIT("/system.slice/docker-.scope", "docker-.scope"),
	NONE("/docker/3F1C0D52A9E84B7760D1C2F8E5A4B39017C6D8E2F4A1B0935C7E6D8F2A4B1C30"),
	NONE("/docker/" ID "0"),
	NONE("/docker/3f1c0d52a9e8"),
	NONE("/docker"),
	NONE("/docker/\xff\xfe"),
	NONE("/system.slice:docker:" ID "0"),
	NONE("/::" ID),
	NONE("/a:b:" ID),
	NONE(""),
	NONE("/"),
	NONE("/.."),
	NONE(" (deleted)"),
};

#define WSL "/wsl-user/distro-1/systemd"

/* The machine's systemd below directories, which its own place shows where that is unknown. */
static const struct vector nested_systemd[] = {
	UNIT(WSL "/init.scope", "init.scope"),
	UNIT(WSL "/system.slice/ssh.service", "ssh.service"),
	UNIT(WSL "/system.slice/ssh.service (deleted)", "ssh.service"),
	UNIT(WSL "/system.slice/system-getty.slice/getty@tty1.service/x", "getty@tty1.service"),
	UNIT(WSL "/user.slice/user-1000.slice/session-2.scope", "session-2.scope"),
	UNIT(WSL USER "/app.slice/tmux.service", "user-1000.slice/tmux.service"),
	C(WSL USER "/user.slice/libpod-" ID ".scope", "podman", ID "@1000", ""),
	C(WSL "/system.slice/docker-" ID ".scope", "docker", ID, ""),
	C(WSL "/system.slice/docker-" ID ".scope/system.slice/ssh.service", "docker", ID, ""),
	C(WSL "/docker/" ID "/system.slice/ssh.service", "docker", ID, ""),
	C(WSL POD_S "cri-containerd-" ID ".scope", "containerd", ID, UID),
	JOB(WSL "/system.slice/slurmstepd.scope/job_42/step_0", "slurm", "job_42"),
	VM(WSL "/machine.slice/machine-qemu\\x2d6\\x2dcirros.scope", "qemu/cirros"),
	UNIT("/../.." WSL "/system.slice/ssh.service", "ssh.service"),
	/* made by a unit, which may name it as it likes */
	NONE("/openrc/evil.service/x/system.slice/ssh.service"),
	NONE("/openrc/system.slice/x/ssh.service"),
	NONE("/openrc/ssh.service"),
};

static int check(const struct vector *vector)
{
	struct cgroup_owner owner;

	cgroup_owner_from_path(vector->path, strlen(vector->path), &owner);
	if (owner.kind == vector->kind && strcmp(owner.runtime, vector->runtime) == 0 &&
	    strcmp(owner.id, vector->id) == 0 && strcmp(owner.pod_id, vector->pod_id) == 0)
		return 0;
	print_message("# %s\n#   is %d %s \"%s\" pod \"%s\"\n", vector->path, (int)owner.kind,
		      owner.runtime, owner.id, owner.pod_id);
	return 1;
}

static size_t vectors;

static void check_all(const struct vector *table, size_t count)
{
	int wrong = 0;

	for (size_t i = 0; i < count; i++)
		wrong += check(&table[i]);
	vectors += count;
	assert_int_equal(wrong, 0);
}

#define TABLE_TEST(name)                                                                           \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		check_all(name, ARRAY_SIZE(name));                                                 \
	}

TABLE_TEST(docker)
TABLE_TEST(containerd)
TABLE_TEST(pods)
TABLE_TEST(podman)
TABLE_TEST(others)
TABLE_TEST(nested)
TABLE_TEST(machines)
TABLE_TEST(jobs)
TABLE_TEST(look_alikes)
TABLE_TEST(nested_systemd)

static void test_vectors_are_many(void **state)
{
	print_message("# %zu paths\n", vectors);
	assert_true(vectors >= 120);
}

static void owner_of(const char *path, struct cgroup_owner *ret)
{
	cgroup_owner_from_path(path, strlen(path), ret);
}

static void test_units_belong_to_the_machines_systemd(void **state)
{
	static const struct {
		const char *root, *path, *id;
	} rows[] = {
		{ "", "/system.slice/ssh.service", "ssh.service" },
		{ "", "/init.scope", "init.scope" },
		{ "", "/../../system.slice/ssh.service", "ssh.service" },
		{ "", WSL "/system.slice/ssh.service", "system_processes" },
		{ "", "/unknown/guest/init.scope", "system_processes" },
		{ WSL, WSL "/system.slice/ssh.service", "ssh.service" },
		{ WSL, WSL "/custom.slice/x.service/y", "x.service" },
		{ WSL, WSL USER "/app.slice/tmux.service", "user-1000.slice/tmux.service" },
		{ WSL, WSL "/system.slice/docker-" ID ".scope/init.scope", ID },
		{ WSL, WSL "/unknown/guest/system.slice/ssh.service", "system_processes" },
		{ WSL, WSL "0/system.slice/ssh.service", "system_processes" },
		{ WSL, "/wsl-user/distro-2/systemd/system.slice/ssh.service", "system_processes" },
		{ WSL, "/system.slice/ssh.service", "system_processes" },
		{ WSL, WSL, "system_processes" },
		{ WSL, "/../../system.slice/ssh.service", "ssh.service" },
		{ "/a.service/b", "/a.service/b/system.slice/ssh.service", "ssh.service" },
	};
	struct cgroup_owner owner;
	char text[300];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cgroup_owner_from_path_below(rows[i].root, rows[i].path, strlen(rows[i].path),
					     &owner);
		assert_string_equal(owner.id, rows[i].id);
		(void)snprintf(text, sizeof(text), "1:name=systemd:%s\n0::/\n", rows[i].path);
		cgroup_owner_from_proc_below(rows[i].root, text, &owner);
		assert_string_equal(owner.id, rows[i].id);
	}
	cgroup_owner_from_path_below(WSL, WSL "/system.slice/ssh.service/x",
				     sizeof(WSL "/system.slice/ssh.service/x") - 1, &owner);
	assert_int_equal(owner.path_len, strlen(WSL "/system.slice/ssh.service"));
}

static void test_root_of_systemd(void **state)
{
	static const struct {
		const char *text, *root; /* NULL: unknown */
	} rows[] = {
		{ "0::/init.scope\n", "" },
		{ "0::" WSL "/init.scope\n", WSL },
		{ "0::/foo/init.scope", "/foo" },
		{ "12:pids:/\n1:name=systemd:/init.scope\n0::/init.scope\n", "" },
		{ "0::/\n", NULL },
		{ "0::/../../init.scope\n", NULL },
		{ "0::/docker/" ID "\n", NULL },
		{ "0::/xinit.scope\n", NULL },
		{ "0::/init.scope/x\n", NULL },
		{ "init.scope\n", NULL },
		{ "", NULL },
	};
	char root[64];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(cgroup_unit_root(rows[i].text, root, sizeof(root)),
				 rows[i].root != NULL);
		if (rows[i].root)
			assert_string_equal(root, rows[i].root);
	}
	assert_false(cgroup_unit_root("0::/foo/init.scope\n", root, 4));
	assert_true(cgroup_unit_root("0::/foo/init.scope\n", root, 5));
}

static void test_names_before_anybody_knows_better(void **state)
{
	struct cgroup_owner owner;

	owner_of("/docker/" ID, &owner);
	assert_string_equal(owner.name, OUTER);
	owner_of("/machine.slice/machine-web\\x2d1.scope", &owner);
	assert_string_equal(owner.name, "web-1");
	owner_of("/machine.slice/machine-qemu\\x2d12\\x2dweb\\x2d01.scope", &owner);
	assert_string_equal(owner.name, "web-01");
	assert_string_equal(owner.hypervisor, "qemu");
	owner_of("/slurm/uid_1/job_5", &owner);
	assert_string_equal(owner.name, "job_5");
	cgroup_owner_kernel(&owner);
	assert_string_equal(owner.name, "kernel_processes");
	assert_int_equal(owner.kind, OWNER_KERNEL);
}

static void test_whom_to_ask_for_names(void **state)
{
	struct cgroup_owner owner;

	owner_of(POD ID, &owner);
	assert_string_equal(owner.names_id, ID);
	assert_false(owner.is_nested || owner.is_nested_pod);
	owner_of(POD ID "/docker/" INNER, &owner);
	assert_string_equal(owner.names_id, ID);
	assert_true(owner.is_nested && !owner.is_nested_pod);
	owner_of("/docker/" ID "/docker/" INNER, &owner);
	assert_string_equal(owner.names_id, "");
	owner_of("/docker/" ID "/kubepods/pod" UID "/" INNER, &owner);
	assert_string_equal(owner.names_id, INNER);
	assert_true(owner.is_nested && owner.is_nested_pod);
	owner_of(USER "/user.slice/libpod-" ID ".scope", &owner);
	assert_string_equal(owner.names_id, ID "@1000");
	owner_of(POD_S, &owner);
	assert_string_equal(owner.names_id, "");
}

static void test_hybrid_takes_the_hierarchy_that_knows_most(void **state)
{
	struct cgroup_owner owner;

	cgroup_owner_from_proc("9:memory:/docker/" ID "\n1:name=systemd:/system.slice/a.slice/"
			       "docker.service\n0::/\n",
			       &owner);
	assert_string_equal(owner.id, ID);
	cgroup_owner_from_proc("0::/system.slice/containerd.service\n4:pids:" POD ID "\n", &owner);
	assert_string_equal(owner.pod_id, UID);
	cgroup_owner_from_proc("3:cpu:/machine/qemu-1-a.libvirt-qemu/vcpu0\n2:x:/\n", &owner);
	assert_int_equal(owner.kind, OWNER_VM);
	cgroup_owner_from_proc("5:pids:/docker/" ID "\n4:memory:/docker/" ID "/docker/" INNER "\n",
			       &owner);
	assert_string_equal(owner.id, INNER "@" OUTER);
}

static void test_long_names(void **state)
{
	static const char start[] = "/lxc.payload.";
	struct cgroup_owner one, other;
	char path[4000];

	memset(path, 'n', sizeof(path));
	memcpy(path, start, sizeof(start) - 1);
	cgroup_owner_from_path(path, sizeof(path), &one);
	path[sizeof(path) - 1] = 'm';
	cgroup_owner_from_path(path, sizeof(path), &other);
	assert_int_equal(strlen(one.id), IDENTITY_NAME_MAX - 1);
	assert_string_not_equal(one.id, other.id);
	memcpy(path + sizeof(path) - 73, "/docker/" ID, 72);
	cgroup_owner_from_path(path, sizeof(path) - 1, &one);
	assert_string_equal(one.runtime, "docker");
	assert_true(strncmp(one.id, ID "@lxc/nnn", 72) == 0);
}

/* The beginning of the path that is the owner's own cgroup. */
static void test_own_cgroup(void **state)
{
	static const struct {
		const char *path, *own;
	} rows[] = {
		{ "/docker/" ID "/init.scope", "/docker/" ID },
		{ POD_S "crio-" ID ".scope/container (deleted)", POD_S "crio-" ID ".scope" },
		{ POD ID "/docker/" INNER "/x", POD ID "/docker/" INNER },
		{ "/kubepods/pod" UID "/helper/x", "/kubepods/pod" UID },
		{ "/system.slice/nginx.service/worker", "/system.slice/nginx.service" },
		{ "/slurm/uid_1000/job_42/step_0", "/slurm/uid_1000/job_42" },
		{ "/", NULL },
		{ "/strange/place", NULL },
	};
	struct cgroup_owner owner;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char own[256] = "";

		cgroup_owner_from_path(rows[i].path, strlen(rows[i].path), &owner);
		if (!rows[i].own) {
			assert_null(owner.path);
			continue;
		}
		assert_ptr_equal(owner.path, rows[i].path);
		assert_true(owner.path_len < sizeof(own));
		memcpy(own, owner.path, owner.path_len);
		assert_string_equal(own, rows[i].own);
	}
	cgroup_owner_from_proc("0::/docker/" ID "\n", &owner);
	assert_null(owner.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_cgroup),
		cmocka_unit_test(test_docker),
		cmocka_unit_test(test_containerd),
		cmocka_unit_test(test_pods),
		cmocka_unit_test(test_podman),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_look_alikes),
		cmocka_unit_test(test_nested_systemd),
		cmocka_unit_test(test_units_belong_to_the_machines_systemd),
		cmocka_unit_test(test_root_of_systemd),
		cmocka_unit_test(test_vectors_are_many),
		cmocka_unit_test(test_names_before_anybody_knows_better),
		cmocka_unit_test(test_whom_to_ask_for_names),
		cmocka_unit_test(test_hybrid_takes_the_hierarchy_that_knows_most),
		cmocka_unit_test(test_long_names),
	};

	return unit_run(tests);
}
