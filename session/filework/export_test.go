package filework

// FormatNames is what a List puts out.
var FormatNames = formatNames
