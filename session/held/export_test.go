package held

// ProgramFor is Program as if Landlock had at most a version; 0 is none.
func ProgramFor(version int) string { return program(version, listen, "") }

// ProgramUntold is ProgramFor where the kernel puts no calls to the supervisor: it knows no such flag.
func ProgramUntold(version int) string { return program(version, 1<<30, "") }

// HoldSource and HoldText are the file and what is sent of it.
var (
	HoldSource = &holdSource
	HoldText   = holdText

	WatchSource = &watchSource
	WatchText   = watchText
)
