"""Stub."""

def stream_of(sentence: str, *, is_task: bool = False) -> str:
    return "flow"
