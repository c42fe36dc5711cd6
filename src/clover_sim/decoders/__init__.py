"""The built-in decoders, one file a family.

A file here is found by its name: ``block_diffusion.py`` is the strategy ``block-diffusion``. It names its class in
``DECODER`` and may list named settings of it in ``PRESETS``.
"""
