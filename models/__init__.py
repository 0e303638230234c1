if __name__ != "pyto.models":
    raise ImportError("import pyto.models: the folder models/ is part of the package pyto")
