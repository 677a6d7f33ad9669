package repair

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"

	"vitrine/scripts/testkit/rows"
	"vitrine/shared/platform/id"
)

// Archives settles what archives the tables promise, because copies do not hold them: a bundle whose archive is not
// there is made again when the jobs run, and an export is forgotten, so that its owner asks for another.
func (s Set) Archives(ctx context.Context) error {
	there := map[string]int64{}
	for _, prefix := range []string{"b/", "x/"} {
		if err := s.List(ctx, prefix, there); err != nil {
			return err
		}
	}
	homes := map[string]string{}
	var revisions, exports []rows.Item
	for i, err := range s.Rows().Scan(ctx, s.Tables.Core) {
		if err != nil {
			return err
		}
		switch pk, sk := i.Text("pk"), i.Text("sk"); {
		case strings.HasPrefix(pk, "A#") && sk == "META" && i.Text("status") == "active":
			homes[pk] = i.Text("home")
		case strings.HasPrefix(sk, "R#") && i.Text("bstat") == "ready" && i.Text("status") == "published":
			revisions = append(revisions, i.Key())
		case sk == "EXPORT":
			exports = append(exports, i)
		}
	}
	for _, r := range revisions {
		home, a := homes[r.Text("pk")], r.Text("pk")[2:]
		name := r.Text("sk")[2:]
		if _, made := there["b/"+home+"/"+a+"/"+name+".zip"]; home == "" || made {
			continue
		}
		if err := s.stores().Recoveries.MakeBundle(ctx, id.Artifact(a), id.Revision(name), s.Now); err != nil {
			return err
		}
	}
	for _, e := range exports {
		if err := s.forget(ctx, e, there); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the newest export of a workspace unless its archives are all there. Its item records each with size and
// digest.
func (s Set) forget(ctx context.Context, export rows.Item, there map[string]int64) error {
	workspace, name := export.Text("pk")[2:], export.Text("id")
	for v := range len(export.Bytes("vols")) / (binary.Size(uint64(0)) + sha256.Size) {
		if _, made := there[fmt.Sprintf("x/%s/%s/%04d.zip", workspace, name, v+1)]; !made {
			s.say("the export %s of workspace %s is not in the copy: forgotten", name, workspace)
			return s.Rows().Remove(ctx, s.Tables.Core, export.Key())
		}
	}
	return nil
}
