package replay

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/rows"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// gap is what has to end where no event tells what was revoked.
type gap struct {
	workspaces map[id.Workspace]bool // that have live credentials
	artifacts  []id.Artifact         // that links or public views open
}

// ListGap says what CloseGap would end.
func ListGap(ctx context.Context, set invariant.Deployment, now time.Time) (Report, error) {
	g, err := findGap(ctx, set, now)
	return g.report("to end"), err
}

// CloseGap ends everything that may have been ended in a time of which no events are left, because no record says which
// of it was: all credentials of each workspace that has any, by its epoch, and the links and public views of each
// artifact. It may be repeated: what is closed is not closed again within a day.
func CloseGap(ctx context.Context, set invariant.Deployment, now time.Time) (Report, error) {
	g, err := findGap(ctx, set, now)
	if err != nil {
		return Report{}, err
	}
	r := storeOf(set)
	for _, w := range slices.Sorted(maps.Keys(g.workspaces)) {
		if err := r.raiseEpoch(ctx, w, now); err != nil {
			return Report{}, err
		}
	}
	stores := dynamo.New(set.DynamoDB, set.Tables)
	for _, name := range g.artifacts {
		found, err := stores.Artifacts.Artifact(ctx, name)
		if err != nil {
			return Report{}, err
		}
		if err := r.close(ctx, *found, now); err != nil {
			return Report{}, err
		}
	}
	return g.report("ended"), nil
}

func (g gap) report(done string) Report {
	counts := map[string]int{}
	if n := len(g.workspaces); n > 0 {
		counts["W"] = n
	}
	if n := len(g.artifacts); n > 0 {
		counts["A"] = n
	}
	return counted(done, counts)
}

// findGap reads the whole set.
func findGap(ctx context.Context, set invariant.Deployment, now time.Time) (gap, error) {
	g := gap{workspaces: map[id.Workspace]bool{}}
	closed := map[id.Workspace]bool{} // lately, or for good
	for i, err := range storeOf(set).Scan(ctx, set.Tables.Core) {
		if err != nil {
			return g, err
		}
		kind, _, _ := strings.Cut(i.Text("pk"), "#")
		switch {
		case kind == "A" && i.Text("sk") == "META" && exposed(i):
			g.artifacts = append(g.artifacts, nameIn[id.Artifact](i))
		case kind == "W" && i.Text("sk") == "META":
			lately := now.Add(-limits.Day).UnixMilli()
			if i.Text("into") != "" || i.Number("gap") > lately {
				closed[nameIn[id.Workspace](i)] = true
			}
		case holds(kind, i, now):
			g.workspaces[id.Workspace(i.Text("ws"))] = true
		}
	}
	maps.DeleteFunc(g.workspaces, func(w id.Workspace, _ bool) bool { return w == "" || closed[w] })
	return g, nil
}

// holds reports whether an item is a credential that works, or that leads to one.
func holds(kind string, i rows.Item, now time.Time) bool {
	end := i.Number("exp")
	if end > 0 && end <= now.UnixMilli() {
		return false
	}
	switch kind {
	case "K", "CRED":
		return i.Number("rev_at") == 0
	case "DEL":
		return i.Number("ended") == 0
	case "REG":
		return i.Text("state") != "revoked"
	case "SES":
		return true
	}
	return false
}

// exposed reports whether others than its workspace can open an artifact.
func exposed(i rows.Item) bool {
	if i.Text("status") != string(artifact.Live) {
		return false
	}
	linked := i.Text("share") != "" || i.Number("links_at") > i.Number("links_closed")
	return linked || i.Number("no") > i.Number("views_closed")
}

// raiseEpoch ends all credentials of a workspace. No store does that alone: only a takeover does, for its member. The
// attribute gap keeps a repetition from raising it again.
func (s store) raiseEpoch(ctx context.Context, w id.Workspace, now time.Time) error {
	_, err := s.Change(ctx, rows.Update{
		Key:    rows.Key("W#"+string(w), "META"),
		Set:    "SET #gap = :now ADD #epoch :one",
		Only:   "attribute_exists(pk) AND (attribute_not_exists(#gap) OR #gap < :lately)",
		Values: rows.Item{":now": rows.Millis(now), ":one": rows.Number(1), ":lately": rows.Millis(now.Add(-limits.Day))},
		Names:  map[string]string{"#gap": "gap", "#epoch": "epoch"},
	})
	return err
}

// close ends the links and public views of an artifact. A store would ask for an open workspace and record an event, as
// if a member had asked for it.
func (s store) close(ctx context.Context, of artifact.Artifact, now time.Time) error {
	_, err := s.Change(ctx, rows.Update{
		Key:  rows.Key("A#"+string(of.ID), "META"),
		Set:  "SET #closed = :now, #views = :no REMOVE #share, #until ADD #ver :one",
		Only: "#status = :live",
		Values: rows.Item{
			":now":  rows.Millis(of.NextLink(now)),
			":no":   rows.Number(int64(of.Number)),
			":one":  rows.Number(1),
			":live": rows.Text(string(artifact.Live)),
		},
		Names: map[string]string{
			"#closed": "links_closed",
			"#views":  "views_closed",
			"#share":  "share",
			"#until":  "share_exp",
			"#ver":    "ver",
			"#status": "status",
		},
	})
	return err
}
