"""Saved models: read back, or exported to other programs as ONNX."""
