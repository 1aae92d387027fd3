package programs

// tracers watch or change other programs while they run.
var tracers = []program{
	{name: "strace|ltrace|gdb|lldb|valgrind|uftrace|rr|dtrace|dtruss|truss|gcore|gstack|pstack|eu-stack|criu|reptyr|systemtap|stap|trace-cmd|bcc|opensnoop|execsnoop|crash|kdump|makedumpfile|drgn|delve|dlv|pdb|jdb|py-spy|rbspy",
		class: unknown, why: "attaches to programs or runs them", raw: true, check: guess, alone: "--version -V"},
}
