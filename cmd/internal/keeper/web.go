package keeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/page"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// web is the page, from the first time on that somebody asks for it.
type web struct {
	mu     sync.Mutex // guards what follows
	door   *page.Door // nil until then
	server *http.Server
	url    string
	closed bool
}

func (k *Keeper) addWeb(a *route.API) {
	route.Add(a, route.Route{Method: "POST", Path: "/v1/web", ID: "open-page", Tag: "keeper", Need: access.NeedOwn, Status: http.StatusCreated,
		Summary: "A link to the keeper's web page, good once, for two minutes, in a browser on this machine"}, k.invite)
}

// invite gives a link.
func (k *Keeper) invite(ctx context.Context, c *access.Caller, _ *route.None) (*route.Body[wire.Link], error) {
	if err := k.openWeb(); err != nil {
		return nil, err
	}
	if err := k.sink.Administered(ctx, c, audit.Event{Kind: audit.WebLink, Subject: k.web.url}); err != nil {
		return nil, err
	}
	code, until := k.web.door.Invite(page.Guest{Inventory: c.Inventory, AuthSock: c.AuthSock})
	return route.JSON(&wire.Link{URL: k.web.url + "/#" + code, Expires: until.UTC()}), nil
}

// openWeb listens on a port of loopback, which nobody else is told. It goes on until the keeper ends.
func (k *Keeper) openWeb() error {
	w := &k.web
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return problem.ErrEnding
	case w.door != nil:
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(k.base, "tcp", "127.0.0.1:0")
	if err != nil {
		return problem.New(http.StatusInternalServerError, "error", "the page cannot listen: %v", err)
	}
	addr := l.Addr().String()
	name, _ := os.Hostname()
	door := page.NewDoor(addr)
	h := &page.Handler{
		Door: door, Who: page.Entered{Principal: k.cfg.Principal, Name: name},
		API: k.handler(func(r *http.Request) (*access.Caller, *wire.Problem) { return k.paged(door, r) }, access.Names(func(host string) bool { return host == addr })),
		Refuse: func(w http.ResponseWriter, status int, code, detail string) {
			k.refuse(w, "page", problem.New(status, code, "%s", detail))
		},
	}
	server := k.server(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.bound(w, r)
		h.ServeHTTP(w, r)
	}))
	w.door, w.server, w.url = door, server, "http://"+addr
	k.leaving.Go(func() {
		if err := server.Serve(listen.Bounded(l)); !errors.Is(err, http.ErrServerClosed) {
			k.log.Printf("the page is served no more: %v", err)
		}
	})
	return nil
}

// paged is who asks on the page: the account, as far as a page may act for it.
func (k *Keeper) paged(door *page.Door, r *http.Request) (*access.Caller, *wire.Problem) {
	for _, name := range []string{wire.Principal, wire.Inventory, wire.AuthSock, wire.SSHOptions, wire.Environment, "Authorization"} {
		if len(r.Header.Values(name)) > 0 {
			return nil, problem.New(http.StatusForbidden, "forbidden", "%s is for callers elsewhere", name)
		}
	}
	p, ok := door.Know(r)
	if !ok {
		return nil, problem.New(http.StatusUnauthorized, "auth", "this link is unknown or no longer valid: run “fairlead web” for a new one")
	}
	return &access.Caller{
		Principal: k.cfg.Principal, Role: access.Page, Inventory: p.Inventory, AuthSock: p.AuthSock, Account: k.sink.Own, Bucket: pageBucket(p.Number, r), Use: p.Use,
	}, nil
}

const asksPath = "/v1/approvals"

// pageBucket is the bucket of a page's request. Each page has its own; the list of what waits has another than what else is
// looked at, and so has what it takes to answer: a view of much that happens keeps nobody from saying no.
func pageBucket(number uint64, r *http.Request) string {
	kind := "look"
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead, strings.HasPrefix(r.URL.Path, asksPath+"/"):
		kind = "answer"
	case r.URL.Path == asksPath:
		kind = "asks"
	}
	return fmt.Sprintf("page/%d/%s/", number, kind)
}

// close takes no more pages, and returns what serves those that there are; nil where there are none.
func (w *web) close() *http.Server {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return w.server
}
