package foreign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// What asking a program for one host after the other may take.
const (
	maxAsked    = 2000
	askedAtOnce = 8
)

// eachHost completes what a program printed for --list where "_meta" is missing: as Ansible does, it asks the program with
// --host NAME for the variables of each host. All of that takes one time limit.
func (p Programs) eachHost(ctx context.Context, file string, argv []string, list []byte) ([]byte, error) {
	names, lacking := withoutVars(list)
	if !lacking || argv[len(argv)-1] != "--list" {
		return list, nil // whatever else is wrong with it, its reader says
	}
	if len(names) > maxAsked {
		return nil, fmt.Errorf(`there is no "_meta" with "hostvars", and asking for each of %d hosts takes too long: let it print them with --list`, len(names))
	}
	limit := p.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	end := time.Now().Add(limit)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answers := make([]json.RawMessage, len(names))
	var asking sync.WaitGroup
	next := make(chan int)
	for range min(askedAtOnce, len(names)) {
		asking.Go(func() {
			for i := range next {
				one := p
				if one.Timeout = time.Until(end); one.Timeout <= 0 {
					cancel(fmt.Errorf(`it did not answer --host for all of %d hosts within %s: let it print "_meta" with --list`, len(names), limit))
					return
				}
				vars, err := one.host(ctx, file, argv, names[i])
				if err != nil {
					cancel(fmt.Errorf("--host %s: %w", clip(names[i]), err))
					return
				}
				answers[i] = vars
			}
		})
	}
	for i := range names {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	asking.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	vars := map[string]json.RawMessage{}
	for i, name := range names {
		vars[name] = answers[i]
	}
	meta, err := json.Marshal(map[string]any{"hostvars": vars})
	if err != nil {
		return nil, err
	}
	if list = bytes.TrimRight(list, " \t\r\n"); len(list)+len(meta) > maxFile {
		return nil, fmt.Errorf("it printed more than %d MiB", maxFile>>20)
	}
	return fmt.Appendf(list[:len(list)-1:len(list)-1], ", \"_meta\": %s}", meta), nil
}

// host asks for the variables of one host; no answer means none.
func (p Programs) host(ctx context.Context, file string, argv []string, name string) (json.RawMessage, error) {
	if hosts.CheckName(name) != nil { // it is left out anyway, and could be an option
		return json.RawMessage("{}"), nil
	}
	out, err := p.run(ctx, file, append(slices.Clone(argv[:len(argv)-1]), "--host", name))
	if err != nil {
		return nil, err
	}
	if out = bytes.TrimSpace(out); len(out) == 0 {
		out = []byte("{}")
	}
	if out[0] != '{' || !json.Valid(out) {
		return nil, errors.New("it did not print a JSON object")
	}
	return out, nil
}

// withoutVars returns the hosts that a program's list names, and whether their variables are missing in it.
func withoutVars(list []byte) (names []string, lacking bool) {
	var groups map[string]json.RawMessage
	if json.Unmarshal(list, &groups) != nil || len(groups) == 0 {
		return nil, false
	}
	if _, there := groups["_meta"]; there {
		return nil, false
	}
	known := map[string]bool{}
	for name, raw := range groups {
		var members []string
		var group map[string]json.RawMessage
		switch {
		case json.Unmarshal(raw, &members) == nil:
		case json.Unmarshal(raw, &group) != nil:
			return nil, false
		case group["hosts"] == nil && group["vars"] == nil && group["children"] == nil:
			members = []string{name} // the old short form, a host of the group's name
		case group["hosts"] != nil && json.Unmarshal(group["hosts"], &members) != nil:
			return nil, false
		}
		for _, m := range members {
			known[m] = true
		}
	}
	return slices.Sorted(maps.Keys(known)), true
}
