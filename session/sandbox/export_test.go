package sandbox

// Isolation is what tests start bwrap with, as Bubblewrap does.
var Isolation = isolation
