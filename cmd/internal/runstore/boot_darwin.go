package runstore

import (
	"sync"
	"syscall"
)

// boot names this start of the machine; "" is that it is not known.
var boot = sync.OnceValue(func() string {
	text, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return text
})
