#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Calibrates simulated clusters of known links with SimGrid's SMPI, and compares what is found with what is there.

  smpi.py CLUSTER SMPIRUN CALIBRATE_CLUSTER [PLACE]     exit code 1 if a link is off by more than 1 %

CALIBRATE_CLUSTER is the example of that name as a library for smpirun. The network is SimGrid's without factors and
cross traffic, so that it is what the file says. PLACE, the tool, must read the platform.
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SETTINGS = ["network/model:CM02", "network/TCP-gamma:1e300", "network/crosstraffic:0", "network/bandwidth-factor:1",
            "network/latency-factor:1", "network/weight-S:0", "smpi/simulate-computation:no", "smpi/wtime:0"]
TOLERANCE = 0.01
found = []


def check(holds, what):
    if not holds:
        found.append(what)


def cluster(name, nodes, more=""):
    """Nodes with a cable of their own, 1.25 GB/s in each direction and 10 us, to one router."""
    return (f'<cluster id="{name}" prefix="{name}-" suffix="" radical="0-{nodes - 1}" speed="1Gf" bw="1.25GBps" '
            f'lat="10us" loopback_bw="4GBps" loopback_lat="1us" {more}/>')


def hosts(name, nodes, ranks=1):
    return [f"{name}-{i}" for i in range(nodes) for _ in range(ranks)]


# Of each cluster: the platform, the host of each rank; latency and bandwidth of pairs of ranks alone; and how much all
# of some transfers may get together: [(from, to), …] -> bytes/s.
CLUSTERS = {
    "flat": {
        "platform": cluster("node", 4),
        "hosts": hosts("node", 4),
        "alone": {(0, 1): (20e-6, 1.25e9), (3, 0): (20e-6, 1.25e9)},
        "together": [([(0, 1), (2, 3)], 2.5e9), ([(0, 1), (0, 2)], 1.25e9), ([(1, 0), (2, 0), (3, 0)], 1.25e9),
                     ([(0, 1), (1, 0)], 2.5e9)],
    },
    "backbone": {  # which all nodes share
        "platform": cluster("node", 64, 'bb_bw="20GBps" bb_lat="5us"'),
        "hosts": hosts("node", 64),
        "alone": {(0, 1): (25e-6, 1.25e9), (63, 17): (25e-6, 1.25e9)},
        "together": [([(r, r + 32) for r in range(32)], 20e9), ([(r, r + 1) for r in range(0, 16, 2)], 10e9)],
    },
    "racks": {  # two switches, with a trunk between them that is as fast as two nodes
        "platform": f"""<zone id="all" routing="Floyd">
          {cluster("a", 8, 'router_id="ra"')}{cluster("b", 8, 'router_id="rb"')}
          <link id="trunk" bandwidth="2.5GBps" latency="20us" sharing_policy="SPLITDUPLEX"/>
          <zoneRoute src="a" dst="b" gw_src="ra" gw_dst="rb" symmetrical="NO">
            <link_ctn id="trunk" direction="UP"/>
          </zoneRoute>
          <zoneRoute src="b" dst="a" gw_src="rb" gw_dst="ra" symmetrical="NO">
            <link_ctn id="trunk" direction="DOWN"/>
          </zoneRoute>
        </zone>""",
        "hosts": hosts("a", 8) + hosts("b", 8),
        "alone": {(0, 1): (20e-6, 1.25e9), (9, 15): (20e-6, 1.25e9), (0, 8): (40e-6, 1.25e9), (15, 3): (40e-6, 1.25e9)},
        "together": [([(r, r + 8) for r in range(8)], 2.5e9), ([(r + 8, r) for r in range(8)], 2.5e9),
                     ([(0, 8), (8, 0), (1, 9), (9, 1)], 5e9), ([(r, r + 1) for r in range(0, 16, 2)], 10e9)],
    },
    "hosts": {  # four ranks on each, which have its cable in common; what stays inside shares nothing
        "platform": cluster("node", 4),
        "hosts": hosts("node", 4, 4),
        "alone": {(0, 1): (1e-6, 4e9), (12, 15): (1e-6, 4e9), (0, 4): (20e-6, 1.25e9), (15, 3): (20e-6, 1.25e9)},
        "together": [([(r, r + 4) for r in range(4)], 1.25e9), ([(r + 4, r) for r in range(4)], 1.25e9),
                     ([(0, 4), (4, 0)], 2.5e9), ([(0, 1), (2, 3)], 8e9)],
    },
}


def simulate(smpirun, platform, ranks, folder, program, *arguments, more=()):
    """What a program says on ranks, of each of which the host is given, on the simulated platform."""
    (folder / "platform.xml").write_text('<?xml version="1.0"?>\n'
                                         '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
                                         f'<platform version="4.1">{platform}</platform>\n')
    (folder / "hosts").write_text("\n".join(ranks) + "\n")
    run = subprocess.run([smpirun, *more, "-np", str(len(ranks)), "-platform", folder / "platform.xml", "-hostfile",
                          folder / "hosts", *(f"--cfg={s}" for s in SETTINGS), "--log=root.thresh:warning", program,
                          *arguments], capture_output=True, text=True, cwd=folder,
                         env=os.environ | {"TMPDIR": str(folder)})
    if run.returncode:
        sys.exit(f"{' '.join(map(str, run.args))}\nfailed ({run.returncode}):\n{run.stdout}{run.stderr}")
    return run.stdout


def calibrate(truth, smpirun, program, folder):
    made = folder / "made.json"
    simulate(smpirun, truth["platform"], truth["hosts"], folder, program, "--speed", "1e9", "--trips", "2", "--pairs",
             "3", "--groups", "3", "-o", made)
    text = made.read_text()
    made.unlink()
    return text


class Network:
    """Reads a platform file by itself: nodes, links, and the shortest routes between ranks."""

    def __init__(self, text):
        document = json.loads(text)
        self.devices = [d["name"] for d in document["devices"]]
        self.links = []
        self.leaving = {}
        network = document["links"]["network"]
        assert "routes" not in network
        for entry in network["links"]:
            ends = entry.get("between") or [entry["from"], entry["to"]]
            for a, b in [ends, ends[::-1]] if "between" in entry else [ends]:
                self.leaving.setdefault(a, []).append((b, len(self.links)))
                self.links.append((entry.get("latency", 0), entry.get("bandwidth", float("inf"))))

    def route(self, a, b):
        begin, end = self.devices[a], self.devices[b]
        ways, seen = [(begin, [])], {begin}
        for node, links in ways:
            if node == end:
                return links
            for after, link in self.leaving.get(node, []):
                if after not in seen:
                    seen.add(after)
                    ways.append((after, links + [link]))

    def together(self, pairs):
        """What all get if each gets as much as the others, which is as much as the link that is shared most gives."""
        users = {}
        for a, b in pairs:
            for link in self.route(a, b):
                users[link] = users.get(link, 0) + 1
        return len(pairs) * min(self.links[link][1] / count for link, count in users.items())


def near(x, y):
    return abs(x - y) <= TOLERANCE * y


def main(name, smpirun, program, place=None):
    truth, program = CLUSTERS[name], Path(program).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        text = calibrate(truth, smpirun, program, folder)
        check(calibrate(truth, smpirun, program, folder) == text, "a second run finds another platform")
        network = Network(text)
        shared = len(set(truth["hosts"])) < len(truth["hosts"])
        names = [f"{h}/rank{r}" if shared else h for r, h in enumerate(truth["hosts"])]
        check(network.devices == names, f"the devices are {network.devices}")
        check('"rates"' not in text, "a speed that is given is a peak")
        for (a, b), (latency, bandwidth) in truth["alone"].items():
            way = [network.links[link] for link in network.route(a, b)]
            there = sum(link[0] for link in way), min(link[1] for link in way)
            check(near(there[0], latency), f"from {a} to {b}: latency {there[0]} instead of {latency}")
            check(near(there[1], bandwidth), f"from {a} to {b}: bandwidth {there[1]} instead of {bandwidth}")
        for pairs, bandwidth in truth["together"]:
            there = network.together(pairs)
            check(near(there, bandwidth), f"{pairs[:4]}… at once: {there} instead of {bandwidth} bytes/s")
        if place:
            (folder / "platform.json").write_text(text)
            run = subprocess.run([place, "zoo:mnist_conv", "--platform", folder / "platform.json", "--contention",
                                  "fair", "--budget", "10moves"], capture_output=True, text=True)
            check(run.returncode == 0, f"place: {run.stderr}")
    print(*found, f"{name}: {len(found)} defects", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
