package shell

// Run is the command without its flags.
var Run = run
