package redact

// MayBeFramed reports whether a line may have a frame, and Framed whether it has one.
func MayBeFramed(line []byte) bool { return mayBeFramed(line) }

func Framed(line []byte) bool { return len(frame.Find(line)) > 0 }
