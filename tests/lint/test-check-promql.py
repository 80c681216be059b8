#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test-check-promql.py CHECK_PROMQL - deploy/migrate/check-promql: what breaks of the expressions that the dashboards and rules of
both Keplers are made of, in each form of file, and that every series of theirs has an answer.
"""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
PROGRAM = sys.argv.pop(1)
LOADER = importlib.machinery.SourceFileLoader('check_promql', PROGRAM)
TOOL = importlib.util.module_from_spec(importlib.util.spec_from_loader('check_promql', LOADER))
LOADER.exec_module(TOOL)
ROOT = pathlib.Path(__file__).resolve().parents[2]
FACTS = ROOT / 'tests/lint/other-keplers.txt'
KNOWN = TOOL.Knowledge(ROOT / 'docs')
NO_COUNTERPART = {'kepler_node_cpu_info'}  # under classic names
# Facts about the dashboards of both Keplers: function, metrics, labels of selectors, labels of groups.
ZONES = ('package', 'dram', 'other', 'gpu')
IN_POD = '{container_namespace=~"$namespace", pod_name=~"$pod"}'
CLASSIC = [
    f'(sum(increase((kepler_container_joules_total{IN_POD}[24h:1m]))) * $watt_per_second_to_kWh) * $coal',
    *(f'sum by (pod_name, container_namespace) (irate(kepler_container_{zone}_joules_total{IN_POD}[1m]))' for zone in ZONES),
    *(f'sum(increase((kepler_container_{zone}_joules_total{IN_POD}[24h:1m]))) * $watt_per_second_to_kWh' for zone in ZONES),
    f'sum by (container_namespace) (increase((kepler_container_joules_total{IN_POD}[24h:1m])))',
    'rate(kepler_node_platform_joules_total{job="latest"}[$__rate_interval])',
    'rate(kepler_process_package_joules_total{job="dev", pid="${process}"}[$__rate_interval])',
    'query_result(count by (pid, command) (kepler_process_bpf_block_irq_total{job="latest"}))',
    'label_values(kepler_container_package_joules_total, container_namespace)',
]
CURRENT = [
    *(f'sum by (zone, node_name) (kepler_node_cpu_{part}watts{{job="power-monitor", zone="package"}})'
      for part in ('', 'active_', 'idle_')),
    'sum by (pod_name) (max without (state) (kepler_pod_cpu_watts{pod_namespace="a", zone="package"}))',
    'topk(10, sum by (pod_name, pod_namespace) (rate(kepler_pod_cpu_joules_total{zone="package"}[5m])))',
    'sum by (comm, pid) (kepler_process_cpu_watts{type="regular"})',
    'sum(kepler_platform_watts) by (node_name)',
    'max(kepler_node_cpu_info) by (model_name)',
]
NAMES_OF = {'classic': CLASSIC, 'current': CURRENT}
BREAKS = [  # (schema, expression, words of the answer)
    ('current', CLASSIC[1], 'use kepler_container_cpu_joules_total{zone="package"}'),
    ('current', CLASSIC[3], 'no equivalent'),
    ('current', CLASSIC[12], 'use kepler_process_block_irq_total'),
    ('current', CLASSIC[10], 'use kepler_platform_watts'),
    ('classic', CURRENT[0], 'use kepler_node_<zone>_watts'),
    ('classic', CURRENT[1], 'mode="dynamic"'),
    ('classic', CURRENT[4], 'use kepler_pod_<zone>_joules_total'),
    ('both', 'sum by (exported_instance) (kepler_node_package_joules_total)', 'node_name'),
    ('both', 'kepler_node_dram_joules_total{exported_instance="a"}', 'no label exported_instance'),
    ('both', 'kepler_container_joules_total{source=""}', 'source=""'),
    ('both', 'increase(kepler_pod_cpu_joules_total{state="terminated"}[5m])', 'state="terminated"'),
    ('both', 'sum by (bmc_id) (kepler_platform_watts)', 'grouped by bmc_id'),
    ('both', 'kepler_build_info{goversion="go1.24"}', 'no label goversion'),
    ('both', 'rate(kepler_container_gpu_compute_util_total[5m])', 'no equivalent'),
    ('both', 'promhttp_metric_handler_errors_total', None),  # of any Go program
    ('both', 'kepler_node_pakage_joules_total', 'did you mean kepler_node_package_joules_total?'),
    ('both', '{__name__=~"kepler_.*_energy_stat"}', 'no metric has such a name'),
    ('both', 'kepler:container_watts:1m:by_ns', 'check the rule'),
    ('both', 'max by (gpu_name) (kepler_node_gpu_watts)', 'grouped by gpu_name'),
    ('current', 'topk(10, sum by (command) (kepler_process_watts))', 'grouped by command'),
    ('current', 'topk(10, sum by (comm) (kepler_process_watts{type="regular"}))', None),
    ('both', 'topk(10, sum by (comm) (kepler_process_watts))', 'grouped by comm'),
    ('classic', 'kepler_pod_package_joules_total{label_team="a"}', None),
    ('both', 'sum by (region) (label_replace(kepler_node_watts, "region", "$1", "instance", "(.*)-.*"))', None),
    ('both', 'kepler_node_watts * on (instance) group_left (nodename) node_uname_info', None),
    ('both', 'sum without (anything) (kepler_node_watts) # of kepler_no_such', None),
    ('both', 'sum by ("mode") ({"kepler_node_watts", mode="idle"})', None),
]
RULES = '''
groups:
- name: a
  rules:
  - record: kepler:pod:watts
    expr: sum by (pod_name) (kepler_pod_watts)
  - alert: b
    expr: |
      kepler:pod:watts > 5
        and kepler_node_nothing_watts > 1
    for: 5m
  - record: c
    expr: "kepler_node_cpu_watts{zone=\\"package\\"}"
  - expr: 'kepler_node_watts{source=''a''}'
    record: d
'''
DASHBOARD = {'title': 'All', 'panels': [{'title': 'Power', 'targets': [{'expr': 'sum(kepler_gone_watts)'}]}, {'panels': [
    {'title': 'Inside', 'targets': [{'expr': 'kepler_node_watts'}]}]}],
    'templating': {'list': [{'name': 'ns', 'query': {'query': 'label_values(kepler_container_watts, container_space)'}}]}}


def run(*words, given=None):
    done = subprocess.run([sys.executable, PROGRAM, *words], input=given, capture_output=True, text=True, check=False)
    assert not done.stderr or done.returncode == 2, done.stderr
    return done.returncode, done.stdout


class CheckPromql(unittest.TestCase):
    def test_dashboards_keep_working_under_their_own_names(self):
        for schema, expressions in NAMES_OF.items():
            for served in (schema, 'both'):
                for expression in expressions:
                    self.assertEqual(TOOL.check_expression(KNOWN, served, expression, set()), [], expression)

    def test_what_breaks_and_what_to_do(self):
        for schema, expression, words in BREAKS:
            said = TOOL.check_expression(KNOWN, schema, expression, set())
            self.assertEqual(bool(said), bool(words), (expression, said))
            self.assertIn(words or '', '\n'.join(said), expression)

    def test_our_dashboards_and_rules_are_served(self):
        files = [str(path) for path in sorted((ROOT / 'deploy').glob('*/*')) if path.parent.name in ('grafana', 'prometheus')
                 and path.suffix in ('.json', '.yaml')]
        self.assertGreater(len(files), 10)
        status, said = run('--schema', 'both', *files)
        self.assertEqual(status, 0, said)

    def test_every_metric_of_theirs_has_an_answer(self):
        lines = [line.split() for line in FACTS.read_text(encoding='utf-8').splitlines() if line and not line.startswith('#')]
        for other, served in (('classic', 'current'), ('current', 'classic')):
            names = [name for schema, name, *_ in lines if schema == other and name.startswith('kepler_')]
            given = ''.join(name + '\n' for name in names)
            _, said = run('--schema', other, '-', given=given)
            self.assertNotIn('neither Kepler', said)
            _, said = run('--schema', served, '-', given=given)
            self.assertNotIn('neither Kepler', said)
            alone = set(re.findall(r'(\w+): only served', said))
            self.assertEqual(alone, NO_COUNTERPART if served == 'classic' else set())
            # Each proposed name is served.
            new = sorted({name for name in re.findall(r'use (kepler_[\w<>]+)', said)})
            self.assertGreater(len(new), 5)
            filled = ''.join(name.replace('<zone>', 'package') + '\n' for name in new)
            self.assertEqual(run('--schema', served, '-', given=filled)[0], 0, run('--schema', served, '-', given=filled)[1])

    def test_forms_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            rules, board = pathlib.Path(folder, 'r.yaml'), pathlib.Path(folder, 'b.json')
            rules.write_text(RULES)
            board.write_text(json.dumps(DASHBOARD))
            status, said = run('--schema', 'classic', str(rules))
            self.assertEqual(status, 1)
            self.assertIn(f'{rules}:8: kepler_node_nothing_watts: neither', said)
            self.assertIn(f'{rules}:13: kepler_node_cpu_watts: use', said)
            self.assertIn('4 expressions, 2 of them break with --metrics.schema=classic', said)
            status, said = run(str(board))
            self.assertIn(f'{board}: Power: kepler_gone_watts: neither', said)
            self.assertIn(f'{board}: ns: kepler_container_watts: grouped by container_space', said)
            self.assertIn('3 expressions, 2 of them break', said)
            inside = pathlib.Path(folder, 'map.yaml')
            inside.write_text('data:\n  b.json: |\n    {"expr": "sum(kepler_gone_watts{a=\\"b\\"})"}\n')
            self.assertIn(f'{inside}:3: kepler_gone_watts', run(str(inside))[1])
            self.assertEqual(run(str(pathlib.Path(folder, 'none.yaml')))[0], 2)
            board.write_text('{')
            self.assertEqual(run(str(board))[0], 2)


unittest.main()
