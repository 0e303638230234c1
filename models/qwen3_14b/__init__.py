"""The dense Qwen3 models, tuned for 14B: kernels, float64 references, inputs, and a demo."""
