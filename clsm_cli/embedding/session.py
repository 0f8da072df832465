"""The session that documents are embedded in: options that fix speed, memory and the last bits.

Queries have one of their own (``runtime``): weights are copied here once into the order in which
the matrix product reads them (30 ms, 42 MB), which takes a third off every run.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

GRAPH = Path(__file__).with_name("minilm.onnx")
"""Built by ``scripts/build_graph.py``."""


def open_session(folder: Path) -> Any:
    """Open the model.

    Args:
        folder: Holds ``model.safetensors``, which must be a regular file: onnxruntime >= 1.24
            refuses weights that a link leads out of the folder.

    Returns:
        An ``onnxruntime.InferenceSession``, whose ``run`` may be called from several threads.
    """
    # Both are read when the libraries load: onnxruntime >= 1.29 would write telemetry files under
    # ~/.cache/Microsoft, and OpenBLAS (numpy) would start a thread a core, 40 ms of CPU.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # An operator runs in the caller's thread; callers may be several. Threads of its own would be
    # pinned to cores, which fails in some containers, and would spin.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # The graph is written with the operators it shall run with. Rewriting it gains nothing, would
    # fuse Add and LayerNormalization back into a slower operator, and may differ by version.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Buffers kept from run to run: + 10 % documents a second.
    options.enable_cpu_mem_arena = True
    # A plan for each input shape would be kept for ever.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", os.path.realpath(folder)
    )
    return onnxruntime.InferenceSession(
        GRAPH.read_bytes(), options, providers=["CPUExecutionProvider"]
    )


def physical_cores() -> int:
    """Count the physical cores this process may run on; logical ones where that is unknown.

    Two threads on one core share its multipliers, which one thread keeps busy.
    """
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    cores = set()
    for cpu in os.sched_getaffinity(0):
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            cores.add(topology.read_text())
        except OSError:
            cores.add(str(cpu))
    return len(cores)
