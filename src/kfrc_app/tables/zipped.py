"""Zip files, and documents that are stored as such: how they begin, and what damaged ones raise."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib

ZIP = b"PK\x03\x04"
"""How they begin."""

UNREADABLE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError, MemoryError)
"""What damaged ones raise, whichever way they are packed."""
