package jobs

// Parse reads an answer of a host.
func Parse(text []byte) (all []Job, stdout, stderr []byte, err error) {
	a, err := parse(text)
	return a.jobs, a.stdout, a.stderr, err
}

// MaxNumber bounds the numbers in an answer.
const MaxNumber = maxNumber
