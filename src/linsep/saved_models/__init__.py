"""Saved models: read back, or handed to other programs as ONNX."""
