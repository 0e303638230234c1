"""pyto: a tile-level Python DSL that compiles to Ascend C and runs on any CPU through its own simulator."""

__version__ = "0.1.0"
