if __name__ != "pyto.codegen":
    raise ImportError("import pyto.codegen: the folder codegen/ is part of the package pyto")
