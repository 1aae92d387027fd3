package redact

// FrameOf returns how many bytes of a line are its frame.
func FrameOf(line []byte) int { return frameOf(line) }
