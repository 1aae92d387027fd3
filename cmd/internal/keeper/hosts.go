package keeper

import (
	"context"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
)

type hostsIn struct {
	Selector string `query:"selector" maxLength:"4096" doc:"names, web[01-12], web*, @group, role=web, tier=dev, ~regex, all; joined by , & and !; if omitted, all"`
}

func (k *Keeper) addHosts(a *route.API) {
	route.Add(a, route.Route{Method: "GET", Path: "/v1/hosts", ID: "list-hosts", Summary: "Hosts of the inventory", Tag: "hosts", Need: access.NeedSee},
		func(_ context.Context, c *access.Caller, in *hostsIn) (*route.Body[wire.Hosts], error) {
			r, done, err := k.realms.Of(c)
			if err != nil {
				return nil, err
			}
			defer done()
			list := r.All
			if in.Selector != "" {
				list = func() ([]hosts.Host, error) { return r.Select(in.Selector) }
			}
			hs, err := list()
			if err != nil {
				return nil, err
			}
			out := &wire.Hosts{Items: make([]wire.Host, len(hs))}
			for i, h := range hs {
				out.Items[i] = r.Describe(h)
			}
			return route.JSON(out), nil
		})
}
