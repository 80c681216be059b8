#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each command says what it takes, takes that, and nothing that is another's."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from rig import BUILD, KEPLER, ROOT, run_tests

COMMANDS = "run doctor top stat profile explain vm-energy record replay config"
QUIET = ("--config.file=/dev/null", "--host.state-dir=")


def kepler(*words, status=0, **variables):
    done = subprocess.run([KEPLER, *words], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, **variables})
    assert done.returncode in ((0, 1) if status is None else (status,)), f"{words}: {done.returncode}, {done.stdout}{done.stderr}"
    return done.stderr if status and not done.stdout else done.stdout


def a_command_lists_its_own_options():
    for flag in ("--help", "-h"):
        run, doctor = kepler("run", flag), kepler("doctor", flag)
        assert "--monitor.interval=" in run and "--[no-]json" not in run, run
        assert "--[no-]json" in doctor and "--monitor.interval=" not in doctor, doctor
    assert "--monitor.interval=" in kepler("--help")


def the_doctors_options_are_its_own():
    for words in (("run", "--json"), ("--json",), ("config", "show", "--json")):
        assert "--json: unknown flag" in kepler(*words, status=2)
    assert not kepler("doctor", *QUIET, status=None, KEPLER_JSON="true").startswith("{")


def the_doctor_takes_it_anywhere_but_as_a_value():
    def doctor(*words):
        return kepler("doctor", *QUIET, *words, status=None)  # 1 where this machine lacks something

    assert json.loads(doctor("--json", "--model.machine=cores=2"))["findings"]
    assert not doctor("--json", "--no-json").startswith("{")
    assert not doctor("--host.state-dir", "--json").startswith("{")


def the_doctor_names_the_rules_of_attribution():
    """Of each kind of zones that this machine has; a rule that is asked for is there, or what it lacks."""
    def rules(*words):
        found = json.loads(kepler("doctor", *QUIET, "--json", *words, status=None))["findings"]
        return [finding["text"] for finding in found if finding["topic"] == "attribution"]

    kinds = ("package", "core", "uncore", "dram", "psys", "platform")
    texts = rules()
    assert texts and all("dynamic energy is shared by " in text for text in texts), texts
    for text in rules(*(f"--attribution.{kind}=cpu-time" for kind in kinds)):
        kind = text.partition(":")[0]
        assert kind not in kinds or f"(cpu-time), as --attribution.{kind}" in text, text
    texts = rules("--no-bpf.enabled", *(f"--attribution.{kind}=block" for kind in kinds))
    assert any("not possible here: block (needs block_bytes)" in text for text in texts), texts


def needs_follow_the_configuration():
    """As the unit grants them by default, and fewer where parts are off. Of a machine with nothing: this one may have energy that
    perf counts."""
    def needs(*words):
        with tempfile.TemporaryDirectory() as sysfs:
            text = kepler("config", "needs", f"--host.sysfs={sysfs}", *words, KUBERNETES_SERVICE_HOST="")
        lines = text[text.index("[Service]"):].splitlines()[1:]
        return text, {key: value for key, _, value in (line.partition("=") for line in lines) if value}

    def unit_capabilities(key):
        lines = (ROOT / "systemd/kepler.service.in").read_text().splitlines()
        return next(line.partition("=")[2] for line in lines if line.startswith(key + "="))

    text, settings = needs()
    assert "# bpf: " in text and "# clients: " not in text, text
    for key in ("AmbientCapabilities", "CapabilityBoundingSet", "LimitMEMLOCK"):
        assert settings[key] == unit_capabilities(key), (key, settings)
    assert "IPAddressAllow" not in settings
    assert needs("--web.listen-address=:28282")[1]["IPAddressAllow"] == "any"
    for words in (["--web.listen-address=vsock://:28282"], ["--meter.passthrough=vsock"], ["--passthrough.vsock=28283"]):
        settings = needs(*words)[1]
        assert settings.get("RestrictAddressFamilies") == "AF_VSOCK" and "IPAddressAllow" not in settings, (words, settings)
    assert "RestrictAddressFamilies" not in needs("--passthrough.sockets=/run/kepler-guests")[1]
    assert "# clients: " in needs("--kube.kubeconfig=/nonexistent")[0]
    assert "# clients: " in needs("--runtimes.docker-socket=/run/docker.sock")[0]
    assert needs("--no-bpf.enabled")[1]["AmbientCapabilities"] == "CAP_DAC_READ_SEARCH"
    assert needs("--no-bpf.enabled", "--no-meter.enabled")[1]["AmbientCapabilities"] == "CAP_DAC_READ_SEARCH"  # runtimes' files
    text, settings = needs("--no-bpf.enabled", "--no-meter.enabled", "--no-runtimes.enabled", "--config.file=")
    assert "AmbientCapabilities" not in settings and "add: []" in text, text
    assert "--no-bogus" in kepler("config", "needs", "--no-bogus", status=2)


def build_option(name):
    options = json.loads((BUILD / "meson-info" / "intro-buildoptions.json").read_text())
    return next(option["value"] for option in options if option["name"] == name)


def other_programs():
    """Beside kepler: what this build was configured to have."""
    return build_option("programs")


def ask(name, *words):
    done = subprocess.run([BUILD / name, *words], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def each_program_says_what_it_is_and_refuses_alike():
    version = kepler("--version").split(" ", 1)[1]
    for name in ("kepler", *other_programs()):
        for flag in ("--help", "-h", "help"):
            status, out, err = ask(name, flag)
            assert (status, err) == (0, "") and f"usage: {name} " in out, (name, flag, status, out, err)
        for flag in ("--version", "-V", "-v", "version"):
            assert ask(name, flag) == (0, f"{name} {version}", "")
        assert ask(name, "versoin") == (2, "", f"{name}: versoin: no such command; did you mean version?\n")
        assert ask(name, "xyzzy") == (2, "", f"{name}: xyzzy: no such command; see --help\n")
        assert ask(name, "--xyzzy") == (2, "", f"{name}: --xyzzy: unknown flag; see --help\n")


def wrong_operands_are_answered_with_the_commands_usage():
    cases = [("kepler", command) for command in ("stat", "explain", "record", "replay")]
    if "kepler-model" in other_programs():
        cases += [("kepler-model", command) for command in
                  ("extract", "isolate", "train-from-data", "train", "validate", "compare", "plot", "export",
                   "repo", "serve", "estimate", *(["online-trainer", "train-request"] if build_option("trainers") else []))]
    for name, command in cases:
        usage = ask(name, command, "--help")[1].splitlines()[0]
        assert ask(name, command) == (2, "", f"{usage}; {name} {command} --help explains it\n"), (name, command)
        assert ask(name, "help", command) == ask(name, command, "--help"), (name, command)
    assert ask("kepler", "stat", "--help")[1].startswith("usage: kepler stat [OPTION]... [--] COMMAND [ARGUMENT]...\n")
    status, out, err = ask("kepler", "config", "--help")
    assert (status, err) == (0, "") and "config check FILE" in out, (status, out, err)


COMPLETE = """source "$1"
compopt() { :; }
while read -r line; do
    read -ra COMP_WORDS <<<"${line//=/ = }"
    [[ $line == *@ ]] && COMP_WORDS[-1]=''
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _kepler kepler "${COMP_WORDS[COMP_CWORD]}"
    echo "${COMPREPLY[*]}"
done
"""


def bash_completes_commands_options_and_values():
    """As bash calls it, which takes "=" for a word; @ stands for a word that is not begun."""
    cases = (("kepler @", f"{COMMANDS} help version completion"), ("kepler do", "doctor"),
             ("kepler config @", "check show needs sample schema import"), ("kepler config check /etc/passw", None),
             ("kepler explain /etc/passw", ""), ("kepler completion z", "zsh"),
             ("kepler --log.l", "--log.level="), ("kepler --log.level=", "debug info warn error"),
             ("kepler run --log.level=de", "debug"), ("kepler doctor --js", "--json"), ("kepler help re", "record replay"),
             ("kepler --no-bpf", "--no-bpf.enabled"), ("kepler replay --by=p", "process pod"),
             ("kepler replay /etc/passw", None), ("kepler run --config.file=/etc/passw", None))
    with tempfile.NamedTemporaryFile("w", suffix=".bash") as script:
        script.write(kepler("completion"))
        script.flush()
        lines = "".join(f"{line}\n" for line, _ in cases)
        done = subprocess.run(["bash", "-c", COMPLETE, "bash", script.name], input=lines, text=True, capture_output=True,
                              timeout=60, check=True)
    assert not done.stderr, done.stderr
    for (line, want), got in zip(cases, done.stdout.splitlines(), strict=True):
        assert got == want if want is not None else "/etc/passwd" in got.split(), (line, want, got)


ZSH = """compdef() { :; }; compadd() { [[ $1 == -S ]] && shift 2; shift; print -n -- "${(P)1[*]} "; }
compset() { :; }; _files() { print -n -- FILES; }
source $1
while read -r line; do
    words=(${=line}); [[ $line == *@ ]] && words[-1]=''
    CURRENT=$#words; _kepler; print
done
"""


def zsh_completes_what_bash_does():
    """The functions of its completion system are replaced by ones that print what they are given."""
    if not shutil.which("zsh"):
        print("  zsh is not installed")
        return
    cases = (("kepler @", f"{COMMANDS} help version completion"), ("kepler run --log.level=@", "debug info warn error"),
             ("kepler --log.level=@", "debug info warn error"), ("kepler config @", "check show needs sample schema import"),
             ("kepler config check @", "FILES"), ("kepler config import @", "FILES"), ("kepler explain @", ""),
             ("kepler replay @", "FILES"),
             ("kepler run --config.file=@", "FILES"), ("kepler help @", f"{COMMANDS} help version completion"))
    with tempfile.NamedTemporaryFile("w", suffix=".zsh") as script:
        script.write(kepler("completion", "zsh"))
        script.flush()
        lines = "".join(f"{line.replace('=@', '=')}\n" for line, _ in cases)
        done = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", script.name], input=lines, text=True, capture_output=True, timeout=60,
                              check=True)
    assert not done.stderr, done.stderr
    for (line, want), got in zip(cases, done.stdout.splitlines(), strict=True):
        assert got.strip() == want, (line, want, got)


def fish_completes_what_bash_does():
    if not shutil.which("fish"):
        print("  fish is not installed")
        return
    cases = (("kepler do", {"doctor"}), ("kepler ", {*COMMANDS.split(), "help", "version", "completion"}),
             ("kepler --log.level=de", {"--log.level=debug"}), ("kepler doctor --js", {"--json"}),
             ("kepler config ", {"check", "show", "needs", "sample", "schema", "import"}), ("kepler explain /etc/passw", set()),
             ("kepler replay --by=p", {"--by=process", "--by=pod"}), ("kepler replay /etc/passw", {"/etc/passwd"}),
             ("kepler run --no-bpf.en", {"--no-bpf.enabled"}), ("kepler completion z", {"zsh"}))
    with tempfile.TemporaryDirectory() as home:
        script = pathlib.Path(home, "kepler.fish")
        script.write_text(kepler("completion", "fish"))
        for line, want in cases:
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], text=True, check=True,
                                  capture_output=True, timeout=60, env={**os.environ, "HOME": home})
            got = {word.partition("\t")[0] for word in done.stdout.splitlines()}
            assert not done.stderr and (got - {"/etc/passwd-"}) == want, (line, want, got, done.stderr)


def help_is_one_screen():
    text = kepler("--help")
    lines = text.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80 and "--web.listen-address=" in text and "Example:" in text, text
    everything, section = kepler("help", "all"), kepler("help", "idle")
    assert text in everything and section in everything and "--idle.mode=" in section and "--log." not in section
    assert "kepler top shows the power of processes" in kepler("watch", status=2)
    for flag, meant in (("--port=1", "web.listen-address"), ("--interval=2s", "monitor.interval"),
                        ("--web.listen=:1", "web.listen-address"), ("--config=x", "config.file")):
        assert f"did you mean --{meant}?" in kepler(flag, status=2), flag


def replay_names_all_that_is_wrong():
    asked = "replay", "/nonexistent/a", "--top=x", "/nonexistent/b", "--forma=csv"
    assert kepler(*asked, status=2).splitlines() == [
        'kepler: --top: must be a whole number from 0 to 10000000, not "x"',
        "kepler: --forma: unknown flag; did you mean --format?",
        *(f"kepler: /nonexistent/{name}: cannot be read: No such file or directory" for name in "ab")]


def a_program_without_a_command_says_so():
    for name in other_programs():
        assert ask(name) == (2, "", f"{name}: no command; see --help\n")
        assert ask(name, "--versoin") == (2, "", f"{name}: --versoin: unknown flag; did you mean --version?\n")


def the_doctor_names_meters_that_were_left_out():
    """Of a machine with RAPL zones nothing says that it has none, because others were asked for."""
    with tempfile.TemporaryDirectory() as sysfs:
        for name in ("intel-rapl:0", "intel-rapl:1"):
            folder = pathlib.Path(sysfs, "class/powercap", name)
            folder.mkdir(parents=True)
            for file, text in (("name", f"package-{name[-1]}"), ("max_energy_range_uj", "262143328850"), ("energy_uj", "1000000")):
                (folder / file).write_text(text + "\n")
        found = json.loads(kepler("doctor", *QUIET, "--json", f"--host.sysfs={sysfs}", "--meters=hwmon", status=1))["findings"]
    texts = [finding["text"] + " → " + finding["fix"] for finding in found]
    said = "none of the meters in --meters=hwmon was found → rapl-sysfs would have 2 zones: use --meters=auto"
    assert said in texts and not any("no zones" in text for text in texts), texts


run_tests([a_command_lists_its_own_options, the_doctors_options_are_its_own, the_doctor_takes_it_anywhere_but_as_a_value,
           the_doctor_names_the_rules_of_attribution, the_doctor_names_meters_that_were_left_out,
           needs_follow_the_configuration,
           each_program_says_what_it_is_and_refuses_alike, wrong_operands_are_answered_with_the_commands_usage,
           bash_completes_commands_options_and_values, zsh_completes_what_bash_does, fish_completes_what_bash_does,
           help_is_one_screen, replay_names_all_that_is_wrong, a_program_without_a_command_says_so])
