# Prints a shell's umask and its exported variables. It starts no process.
\@builtin@ umask
\@builtin@ export -p
