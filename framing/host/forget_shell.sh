# A clean shell has no SHELL: it was needed to pick one.
unset SHELL
