// Package chaos breaks what keepers stand on while they work: its test kills and stops two keepers on one Postgres, stops the
// database, fills disks, cuts links, removes runtime directories and sets clocks, in an order that a seed chooses. What was
// acknowledged holds all the same.
//
//	go test ./cmd/internal/chaos -chaos.time 1h -chaos.seed 7 -timeout 2h -v
package chaos
