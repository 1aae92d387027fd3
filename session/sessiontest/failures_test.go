package sessiontest_test

import (
	"fmt"
	"testing"
)

// failures stands for a test whose end and failures are looked at from outside.
type failures struct {
	*testing.T
	cleanups []func()
	said     []string
}

func (f *failures) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }

func (f *failures) Errorf(format string, args ...any) {
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func (f *failures) end() {
	for _, c := range f.cleanups {
		c()
	}
}
