package cmdutil

import "fmt"

// Count is a number of things: "1 host", "2 hosts".
func Count[N int | int64 | uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
