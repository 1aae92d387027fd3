package copies

import (
	"context"
	"path"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/internal/hostfs"
)

// olds returns what tells what stands in the places of files: it is asked of each, or found in one listing of their directory.
func (u *uploading) olds(ctx context.Context, all []packed) func(to string) (*hostfs.Meta, error) {
	each := func(to string) (*hostfs.Meta, error) { return u.old(ctx, to) }
	if _, ok := u.r.(hostfs.ManyAtOnce); !ok {
		return each
	}
	asked := map[string]int{}
	for i := range all {
		asked[path.Dir(u.target(all[i].n))]++
	}
	known := map[string]map[string]hostfs.Meta{}
	for dir, n := range asked {
		if n < fewNames || u.made[dir] {
			continue
		}
		if list, err := names(ctx, u.r, dir); err == nil {
			known[dir] = map[string]hostfs.Meta{}
			for _, m := range list {
				known[dir][m.Name] = m
			}
		}
	}
	return func(to string) (*hostfs.Meta, error) {
		names, ok := known[path.Dir(to)]
		if !ok {
			return each(to)
		}
		if m, there := names[path.Base(to)]; there {
			return replaceable(m)
		}
		return nil, nil
	}
}

// fewNames are looked at one by one: their directory may be large.
const fewNames = 20

// dressPacked dresses the files of a pack that need it, where that can be done to many at once. Where it fails each is dressed by
// itself, which says why.
func (u *uploading) dressPacked(ctx context.Context, all []packed) {
	m, ok := u.r.(hostfs.ManyAtOnce)
	if !ok {
		return
	}
	like := map[hostfs.Clothes][]*packed{}
	for i := range all {
		if p := &all[i]; p.made.UID >= 0 || p.made.Mode != p.in.Mode {
			like[p.made.Clothes] = append(like[p.made.Clothes], p)
		}
	}
	for c, some := range like {
		names := make([]string, len(some))
		for i, p := range some {
			names[i] = p.made.temp
		}
		if m.DressAll(ctx, names, c) != nil {
			continue
		}
		for _, p := range some {
			p.made.UID, p.in.Mode = -1, c.Mode
		}
	}
}

// placeAll gives files their names, and returns those that did not get them: what is wrong with each is found out one by one.
func (u *uploading) placeAll(ctx context.Context, m hostfs.ManyAtOnce, all []waitingFile) (left []waitingFile) {
	for len(all) > 0 && ctx.Err() == nil {
		moves := make([]hostfs.Move, len(all))
		for i, f := range all {
			moves[i] = f.Move
		}
		n, err := m.RenameAll(ctx, moves)
		for _, f := range all[:n] {
			u.placed(f)
		}
		all = all[n:]
		if err != nil && len(all) > 0 {
			left, all = append(left, all[0]), all[1:]
		}
	}
	return append(left, all...)
}

// makeAll makes some of the directories of entries, and returns those that are left: what is wrong with each is found out one by one.
func (u *uploading) makeAll(ctx context.Context, entries []int) (left []int) {
	m, ok := u.r.(hostfs.ManyAtOnce)
	if !ok || len(entries) < fewNames {
		return entries
	}
	names := make([]string, len(entries))
	for i, n := range entries {
		names[i] = u.target(n)
	}
	missing := m.MakeAll(ctx, names)
	for i, was := range missing {
		u.made[names[i]] = was
	}
	return entries[len(missing):]
}

// dressDirectories dresses some of the directories of entries, which come deepest first, and returns those that are left.
func (u *uploading) dressDirectories(ctx context.Context, entries []int) (left []int) {
	m, ok := u.r.(hostfs.ManyAtOnce)
	for len(entries) > 0 {
		n := 1
		for ; n < len(entries) && u.depth(entries[n]) == u.depth(entries[0]); n++ {
		}
		level := entries[:n]
		if entries = entries[n:]; !ok || len(left) > 0 || !u.dressLevel(ctx, m, level) {
			left = append(left, level...)
		}
	}
	return left
}

func (u *uploading) depth(n int) int { return strings.Count(u.p.Entries[n].Name, "/") }

// dressLevel dresses directories none of which is in another, or fails.
func (u *uploading) dressLevel(ctx context.Context, m hostfs.ManyAtOnce, level []int) bool {
	like := map[hostfs.Clothes][]string{}
	for _, n := range level {
		c := u.directoryClothes(n)
		like[c] = append(like[c], u.target(n))
	}
	for c, names := range like {
		if m.DressAll(ctx, names, c) != nil {
			return false
		}
	}
	for _, n := range level {
		u.created(n)
	}
	return true
}
