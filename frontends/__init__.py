if __name__ != "pyto.frontends":
    raise ImportError("import pyto.frontends: the folder frontends/ is part of the package pyto")
