# SPDX-License-Identifier: BSL-1.0
"""The tables of README.md and docs/ that hold results of `compare` and `manycore`."""
import csv
import io
import math
import subprocess
from statistics import mean

NETWORKS = ("mnist_conv", "lstm", "dynamic_rnn")
SPACE = "\N{NO-BREAK SPACE}"
GRAPHS = {"convolutional": "convolutional_network", "recurrent": "recurrent_network"}


def run(program, *arguments):
    done = subprocess.run([program, *arguments, "--format", "csv"], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{program} fails: {done.stderr.strip()}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def markdown(head, rows, names=1):
    """The lines of a table whose first columns are names and whose others are numbers."""
    numbers = ["---" if i < names else "--:" for i in range(len(head))]
    return ["| " + " | ".join(row) + " |" for row in (head, numbers, *rows)]


def of(rows, **wanted):
    return [r for r in rows if all(r[key] == value for key, value in wanted.items())]


def makespan(rows):
    return mean(float(r["makespan"]) for r in rows)


def bundled(compare, _):
    """README: best, the ten partitioners of all with the largest speed-up on the bundled networks, and the baseline."""
    rows = []
    for partition, schedule, seeds in (("best", "best", 2), ("all", "path_completion_time", 5),
                                       ("hash", "fifo", 5)):
        rows += run(compare, "--workload", ",".join(f"zoo:{n}" for n in NETWORKS), "--platform", "preset:paper_like_10",
                    "--partition", partition, "--schedule", schedule, "--repeat", str(seeds), "--budget", "20000moves")
    head = ["partitioner"] + [f"`{n}`" for n in NETWORKS] + ["planning `lstm`"]
    table = []
    for partition, schedule in dict.fromkeys((r["partition"], r["schedule"]) for r in rows):
        cells = [f"`{partition}`" + (" with `fifo`" if schedule == "fifo" else "")]
        gain = 1
        for network in NETWORKS:
            here = of(rows, workload=f"zoo:{network}")
            ours = makespan(of(here, partition=partition, schedule=schedule))
            base = makespan(of(here, partition="hash", schedule="fifo"))
            gain *= base / ours
            cells.append(f"{ours * 1e3:.2f}{SPACE}ms, {base / ours:.2f}{SPACE}×")
        lstm = of(rows, workload="zoo:lstm", partition=partition, schedule=schedule)
        cells.append(f"{min(float(r['partition_seconds']) for r in lstm) * 1e3:.2f}{SPACE}ms")
        table.append((schedule == "fifo", -gain, cells))
    table = [cells for *_, cells in sorted(table)]
    table[11:-1] = []
    bounds = [max(float(r["lower_bound"]) for r in of(rows, workload=f"zoo:{n}")) for n in NETWORKS]
    table.append(["*lower bound*"] + [f"*{b * 1e3:.2f} ms*" for b in bounds] + [""])
    return markdown(head, table)


PLACEMENTS = ("hash", "critical_path", "heft")


def ready_policies(compare, _):
    """docs/performance.md: makespan / lower bound of ready policies on the suite, the best first."""
    rows = run(compare, "--workload", "suite:all", "--partition", ",".join(PLACEMENTS), "--schedule", "all")

    def cell(policy, **wanted):
        here = [r for r in of(rows, schedule=policy, **wanted) if r["makespan"]]
        logs = [math.log(float(r["makespan"]) / float(r["lower_bound"])) for r in here]
        return math.exp(mean(logs))

    found = sorted((cell(p), [f"`{p}`"] + [f"{cell(p, partition=q):.2f}" for q in PLACEMENTS] + [f"{cell(p):.2f}"])
                   for p in sorted({r["schedule"] for r in rows}))
    return markdown(["ready policy"] + [f"`{q}`" for q in PLACEMENTS] + ["all"], [cells for _, cells in found])


class Paper:
    """Our runs on the files of the critical-path paper, and its published simulator's results on them."""

    def __init__(self, compare, folder):
        with open(folder / "reference/critical_path_paper.csv") as file:
            self.reference = list(csv.DictReader(file))
        files = [str(folder / f"data/critical_path_paper/{name}.csv") for name in
                 ("convolutional_network", "recurrent_network", "devices_50", "devices_10")]
        where = ["--workload", ",".join(files[:2]), "--platform", ",".join(files[2:])]
        one = ["--workload", files[0], "--platform", files[2]]
        self.rows = run(compare, *where, "--schedule", "all", "--repeat", "20", "--partition",
                        "hash,batch_split,mite,dfs,critical_path,iterated_critical_path,divide_successors,heft")
        self.rows += run(compare, *one, "--partition", "iterated_local_search", "--schedule", "path_completion_time",
                         "--repeat", "20")

    def pairs(self, workload, platform):
        """(reference row, our rows) for one graph and device file."""
        for r in of(self.reference, workload=workload, platform=platform):
            name = r["partition"].removesuffix("_as_published")
            yield r, of(self.rows, workload=workload, platform=platform, partition=name, schedule=r["schedule"])


papers = {}


def paper(compare, folder):
    if folder not in papers:
        papers[folder] = Paper(compare, folder)
    return papers[folder]


def spread(average, low, high):
    """`mean (smallest–largest)`, or one number if all are equal."""
    return f"{average:.1f}" + (f"{SPACE}({low:.1f}–{high:.1f})" if low < high else "")


def reproduction(graph, devices):
    def table(compare, folder):
        rows = []
        for theirs, ours in paper(compare, folder).pairs(GRAPHS[graph], f"devices_{devices}"):
            values = [float(r["makespan"]) for r in ours]
            volume = mean(float(r["transfer_bytes"]) for r in ours)
            rows.append([f"`{ours[0]['partition']}`", f"`{theirs['schedule']}`",
                         spread(*(float(theirs[f"makespan_{k}"]) for k in ("mean", "min", "max"))),
                         spread(mean(values), min(values), max(values)),
                         f"{mean(values) / float(theirs['makespan_mean']):.3f}",
                         f"{float(theirs['transfer_volume_mean']):.0f}", f"{volume:.0f}"])
        head = ["partitioner", "ready policy", "published", "weft", "ratio", "moved, published", "moved, weft"]
        return markdown(head, rows, names=2)
    return table


def summary(compare, folder):
    """How the ratios of means lie, per partitioner."""
    ratios = {}
    for graph in GRAPHS.values():
        for devices in ("devices_50", "devices_10"):
            for theirs, ours in paper(compare, folder).pairs(graph, devices):
                ratio = makespan(ours) / float(theirs["makespan_mean"])
                ratios.setdefault(ours[0]["partition"], {}).setdefault(theirs["schedule"], []).append(ratio)
    columns = ("fifo", "path_completion_time", "maximum_successor_rank", "static_order")
    cell = lambda r: "" if not r else f"{r[0]:.2f}" if len(r) == 1 else f"{min(r):.2f}–{max(r):.2f}"  # noqa: E731
    return markdown(["weft / published"] + [f"`{c}`" for c in columns],
                    [[f"`{p}`"] + [cell(by.get(c)) for c in columns] for p, by in ratios.items()])


SETTINGS = ("recommended", "per_socket", "equal_split", "manual_optimum", "symmetric", "s1", "s1_s2", "s1_s2_s3",
            "s1_s2_s3_s4")
STUDY = ("resnet50", "dcgan", "inception_v3", "lstm")


def study(machine, nets):
    """docs/concurrency.md: step times / recommended; only of some networks, since searching by hand takes long."""
    def table(manycore, _):
        rows = run(manycore, "--net", ",".join(nets), "--machine", machine)
        cell = lambda n, s: f"{float(of(rows, net=n, setting=s)[0]['ratio_to_recommended']):.3f}"  # noqa: E731
        body = []
        for s in SETTINGS:
            cells = [cell(n, s) if n in nets else "…" for n in STUDY]
            average = "…" if "…" in cells else f"{mean(float(c) for c in cells):.3f}"
            body.append([f"`{s}`", *cells, average])
        return markdown(["setting"] + [f"`{n}`" for n in STUDY] + ["mean"], body)
    return table


MAKERS = {"bundled": bundled, "ready_policies": ready_policies, "reproduction_summary": summary}
for g in GRAPHS:
    for k in (50, 10):
        MAKERS[f"reproduction_{g}_{k}"] = reproduction(g, k)
STUDIES = {"manycore_xeon_phi_7250": study("xeon_phi_7250", ("lstm",))}


def program_of(name):
    """The program whose results a table holds."""
    return "manycore" if name in STUDIES else "compare"


def make(name, program, folder):
    """The lines of the table of that name; None if it needs reference data that is not there."""
    if name in STUDIES:
        return STUDIES[name](program, folder)
    if name not in MAKERS:
        raise ValueError(f"there is no table '{name}'")
    published = name not in ("bundled", "ready_policies")
    if published and not (folder and (folder / "reference/critical_path_paper.csv").exists()):
        return None
    return MAKERS[name](program, folder)
