"""Reads a trace with Perfetto's own definitions of its messages, of the PyPI
package perfetto, and prints what it saw.

    read_trace.py FILE

One JSON object: what is wrong, the switches of each CPU, the threads, the
slices of each track and the steps of each flow.
"""

import json
import sys
from collections import defaultdict

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def unknown(message, path, wrong):
    """Fields that the definitions do not have, or have with another type."""
    for field in UnknownFieldSet(message):
        wrong.append(f"{path}: no field {field.field_number}")
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for one in [value] if hasattr(value, "ListFields") else value:
            unknown(one, f"{path}.{field.name}", wrong)


class Tracks:
    def __init__(self, wrong):
        self.wrong = wrong
        self.names = {}
        self.open = defaultdict(list)
        self.slices = defaultdict(list)
        self.counters = defaultdict(list)
        self.flows = defaultdict(list)

    def describe(self, track):
        name = track.name or track.thread.thread_name
        if track.parent_uuid:
            if track.parent_uuid not in self.names:
                self.wrong.append(f"track {name}: no parent {track.parent_uuid}")
            name = f"{self.names.get(track.parent_uuid)}/{name}"
        if track.uuid in self.names:
            self.wrong.append(f"track {name}: {track.uuid} is there twice")
        self.names[track.uuid] = name

    def event(self, at, event):
        name = self.names.get(event.track_uuid)
        if name is None:
            self.wrong.append(f"{at}: no track {event.track_uuid}")
        stack = self.open[event.track_uuid]
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            stack.append((event.name, at))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            if not stack:
                self.wrong.append(f"{at}: {name}: an end without a beginning")
                return
            what, begin = stack.pop()
            self.slices[name].append([what, begin, at, len(stack)])
        elif event.type == TrackEvent.TYPE_COUNTER:
            self.counters[name].append([at, event.counter_value])
        elif event.type != TrackEvent.TYPE_INSTANT:
            self.wrong.append(f"{at}: {name}: type {event.type}")
        for flow in [*event.flow_ids, *event.terminating_flow_ids]:
            self.flows[flow].append([name, event.name, at])

    def end(self):
        for track, stack in self.open.items():
            for what, _ in stack:
                self.wrong.append(f"{self.names.get(track)}: {what} has no end")


def main(path):
    trace = Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    wrong = []
    unknown(trace, "Trace", wrong)
    tracks = Tracks(wrong)
    switches = defaultdict(int)
    threads = []
    last = 0
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            tracks.describe(packet.track_descriptor)
            thread = packet.track_descriptor.thread
            if thread.tid:
                threads.append([thread.pid, thread.tid, thread.thread_name])
        if packet.HasField("track_event"):
            if packet.timestamp < last:
                wrong.append(f"{packet.timestamp}: earlier than the one before")
            if not packet.trusted_packet_sequence_id:
                wrong.append(f"{packet.timestamp}: of no sequence")
            last = packet.timestamp
            tracks.event(packet.timestamp, packet.track_event)
        for event in packet.ftrace_events.event:
            switches[packet.ftrace_events.cpu] += event.HasField("sched_switch")
    tracks.end()
    seen = {
        "wrong": wrong,
        "packets": len(trace.packet),
        "switches": switches,
        "threads": threads,
        "slices": tracks.slices,
        "counters": tracks.counters,
        "flows": tracks.flows,
    }
    print(json.dumps(seen))


main(sys.argv[1])
