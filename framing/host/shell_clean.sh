# Stands before a clean shell's driver: what is the shell's own and no program's.
PAGER=cat
