package fairleadtest

// Outcome is how a program ended: its exit code, standard output and standard error.
type Outcome struct {
	Code     int
	Out, Err string
}
