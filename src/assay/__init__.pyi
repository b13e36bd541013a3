"""Where each public name lives: in 0.2 until the command that takes or returns it has moved.

Type checkers read this file as it is, and ``__init__.py`` reads it at run time. A moved name is one
line, ``from HOME import NAME as NAME``.
"""

from assay.v02 import *
from assay.v02 import MeasureFunction
from assay.reading.rows import rows as rows

__version__: str

def __getattr__(name: str) -> MeasureFunction: ...  # every measure of the catalogue
