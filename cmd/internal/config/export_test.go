package config

// Strange reports whether a file of uid may be changed by an account that me need not trust.
var Strange = strange
