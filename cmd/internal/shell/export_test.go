package shell

// Run is the command without its flags.
