package held

// ProgramFor is Program as if Landlock had at most a version; 0 is none.
var ProgramFor = program

// HoldSource and HoldText are the file and what is sent of it.
var (
	HoldSource = &holdSource
	HoldText   = holdText
)
