# SPDX-License-Identifier: Apache-2.0
"""The JSON of Grafana's dashboards, as far as ours need it: panels on a grid of 24 columns, variables, links.

Grafana 10 and later read it (schemaVersion 39). Ids and places follow from the order of panels, so that the same description always
gives the same bytes.
"""
import json

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
GREEN, YELLOW, RED = "green", "#EAB839", "red"
NOTHING = "No data: Kepler exports this only where it is known."


def target(number, expr, legend, instant=False, table=False):
    made = {
        "datasource": DATASOURCE, "editorMode": "code", "expr": expr, "legendFormat": legend, "refId": chr(ord("A") + number),
        "instant": instant, "range": not instant
    }
    return made | ({"format": "table"} if table else {})


def panel(kind,
          title,
          description,
          unit,
          targets,
          empty,
          width,
          height,
          custom=None,
          options=None,
          steps=None,
          maximum=None,
          transformations=(),
          color=None):
    """`empty` is shown where there is no data: why, and what would change it."""
    defaults = {
        "unit": unit, "noValue": empty, "color": color or {"mode": "palette-classic"}, "custom": custom or {}, "mappings": [],
        "thresholds": {"mode": "absolute", "steps": [{"color": c, "value": v} for c, v in steps or [(GREEN, None)]]}
    }
    if maximum is not None:
        defaults |= {"min": 0, "max": maximum}
    return {
        "type": kind, "title": title, "description": description, "datasource": DATASOURCE, "targets": targets,
        "fieldConfig": {"defaults": defaults, "overrides": []}, "options": options or {}, "transformations": list(transformations),
        "gridPos": {"w": width, "h": height}
    }


def series(title, description, unit, *queries, stack=False, empty=NOTHING, width=12, height=8, maximum=None):
    """Lines over time; stacked only if the parts do not overlap. queries: (expression, legend)."""
    custom = {
        "drawStyle": "line", "lineWidth": 1, "fillOpacity": 60 if stack else 8, "showPoints": "never", "spanNulls": False,
        "stacking": {"mode": "normal" if stack else "none", "group": "A"}, "axisSoftMin": 0
    }
    options = {
        "legend": {
            "displayMode": "table", "placement": "right" if width > 12 else "bottom", "calcs": ["mean", "lastNotNull"],
            "showLegend": True, "sortBy": "Mean", "sortDesc": True
        }, "tooltip": {"mode": "multi", "sort": "desc"}
    }
    return panel("timeseries",
                 title,
                 description,
                 unit, [target(i, *query) for i, query in enumerate(queries)],
                 empty,
                 width,
                 height,
                 custom,
                 options,
                 maximum=maximum)


def number(title, description, unit, expr, legend="", empty=NOTHING, width=4, height=4, steps=None):
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "value", "graphMode": "none",
        "textMode": "auto" if legend else "value", "justifyMode": "auto", "orientation": "auto"
    }
    return panel("stat",
                 title,
                 description,
                 unit, [target(0, expr, legend, instant=True)],
                 empty,
                 width,
                 height,
                 options=options,
                 steps=steps or [("text", None)],
                 color={"mode": "thresholds"})


def bars(title, description, unit, expr, legend, empty=NOTHING, width=12, height=8):
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "displayMode": "basic", "showUnfilled": True,
        "orientation": "horizontal", "valueMode": "text"
    }
    return panel("bargauge",
                 title,
                 description,
                 unit, [target(0, expr, legend, instant=True)],
                 empty,
                 width,
                 height,
                 options=options,
                 color={"mode": "continuous-BlPu"})


def table(title, description, unit, expr, columns, empty=NOTHING, width=12, height=8, value="value"):
    """columns: label → heading, in this order, and no other label. `value` names the value's column, "" hides it."""
    expr = f"{'sum' if value else 'group'} by ({', '.join(columns)}) ({expr})"
    hidden = {"Time": True} | ({} if value else {"Value": True})
    names = columns | ({"Value": value} if value else {})
    organize = {
        "id": "organize",
        "options": {"excludeByName": hidden, "renameByName": names, "indexByName": dict(zip(names, range(len(names))))}
    }
    sort = {"sortBy": [{"displayName": value, "desc": True}]} if value else {}
    return panel("table",
                 title,
                 description,
                 unit, [target(0, expr, "", instant=True, table=True)],
                 empty,
                 width,
                 height,
                 custom={"align": "auto", "filterable": True},
                 options={"showHeader": True, "cellHeight": "sm"} | sort,
                 transformations=[organize])


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [], "gridPos": {"w": 24, "h": 1}}


def variable(name, label, query, description, has_all=True):
    """Values of a label. All of them at first, which also matches series without that label; without such a choice, the first."""
    return {
        "type": "query", "name": name, "label": label, "description": description, "datasource": DATASOURCE, "definition": query,
        "query": {"query": query, "refId": name}, "refresh": 2, "sort": 1, "multi": True, "includeAll": has_all,
        "allValue": ".*" if has_all else None, "current": {"text": "All", "value": "$__all"} if has_all else {}, "hide": 0,
        "options": [], "regex": ""
    }


def place(panels):
    """Puts them from left to right, line by line."""
    x = y = line = 0
    for identity, one in enumerate(panels, 1):
        width, height = one["gridPos"]["w"], one["gridPos"]["h"]
        if x + width > 24:
            x, y, line = 0, y + line, 0
        one["id"], one["gridPos"] = identity, {"x": x, "y": y, "w": width, "h": height}
        x, line = x + width, max(line, height)
    return panels


def dashboard(uid, title, description, variables, panels):
    source = {
        "type": "datasource", "name": "datasource", "label": "Data source", "query": "prometheus", "refresh": 1, "regex": "",
        "current": {}, "hide": 0, "includeAll": False, "multi": False, "options": []
    }
    alerts = {
        "name": "Alerts of Kepler", "enable": False, "iconColor": RED, "datasource": DATASOURCE,
        "expr": 'ALERTS{alertname=~"Kepler.+", alertstate="firing"}', "titleFormat": "{{alertname}}", "textFormat": "{{instance}}"
    }
    links = [{
        "type": "dashboards", "title": "Kepler", "tags": ["kepler"], "asDropdown": True, "includeVars": True, "keepTime": True,
        "icon": "external link", "targetBlank": False, "tooltip": "", "url": ""
    }]
    return {
        "uid": uid, "title": f"Kepler / {title}", "description": description, "tags": ["kepler"], "schemaVersion": 39, "version": 1,
        "editable": True, "graphTooltip": 1, "refresh": "30s", "time": {"from": "now-3h", "to": "now"}, "timezone": "",
        "annotations": {"list": [alerts]}, "links": links, "templating": {"list": [source, *variables]}, "panels": place(panels)
    }


def text(made):
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"
