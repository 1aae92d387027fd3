package filework

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/session/files"
)

// FormatNames is what a List of these names puts out.
func FormatNames(all []files.Name) []byte {
	var l lines
	defer l.drop()
	for _, n := range all {
		if err := l.add(n); err != nil {
			panic(err)
		}
	}
	var b bytes.Buffer
	if err := l.write(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}
