package client

import (
	"errors"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Each calls do for every id. What the keeper refuses does not keep the rest from being done, and is returned joined; any other
// error, as that of a keeper that is gone, ends it.
func Each(ids []string, do func(id string) error) (refused, err error) {
	var all []error
	for _, id := range ids {
		err := do(id)
		var p *wire.Problem
		switch {
		case errors.As(err, &p):
			all = append(all, err)
		case err != nil:
			return nil, err
		}
	}
	return errors.Join(all...), nil
}
