package files

// ParseLs opens a door for fuzzing.
var ParseLs = parseLs
