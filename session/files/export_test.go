package files

// ParseLs opens a door for fuzzing.
var ParseLs = parseLs

// ParseList does, too.
var ParseList = parseList

// ListScript does, too.
const ListScript = listScript
