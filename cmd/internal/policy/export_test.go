package policy

// What tests of text look at.
var (
	Batch       = batch
	ParseLine   = parseLine
	ParseCases  = parseCases
	Unescape    = unescape
	UnquoteJSON = unquoteJSON
)

// Want tells a case.
func (c testCase) Want() (line int, verdict, command string) {
	return c.line, c.want.String(), c.command
}

// MaxLine is how long a line may be.
const MaxLine = maxLine
