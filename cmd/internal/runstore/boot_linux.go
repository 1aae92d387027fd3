package runstore

import (
	"os"
	"strings"
	"sync"
)

// boot names this start of the machine; "" is that it is not known.
var boot = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
})
