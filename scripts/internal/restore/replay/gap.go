package replay

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"vitrine/scripts/testkit/invariant"
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
	r := rows{set.DynamoDB, set.Tables}
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
	err := rows{set.DynamoDB, set.Tables}.scan(ctx, set.Tables.Core, func(i item) error {
		kind, _, _ := strings.Cut(textOf(i, "pk"), "#")
		switch {
		case kind == "A" && textOf(i, "sk") == "META" && exposed(i):
			g.artifacts = append(g.artifacts, nameIn[id.Artifact](i))
		case kind == "W" && textOf(i, "sk") == "META":
			lately := now.Add(-limits.Day).UnixMilli()
			if textOf(i, "into") != "" || numberOf(i, "gap") > lately {
				closed[nameIn[id.Workspace](i)] = true
			}
		case holds(kind, i, now):
			g.workspaces[id.Workspace(textOf(i, "ws"))] = true
		}
		return nil
	})
	maps.DeleteFunc(g.workspaces, func(w id.Workspace, _ bool) bool { return w == "" || closed[w] })
	return g, err
}

// holds reports whether an item is a credential that works, or that leads to one.
func holds(kind string, i item, now time.Time) bool {
	end := numberOf(i, "exp")
	if end > 0 && end <= now.UnixMilli() {
		return false
	}
	switch kind {
	case "K", "CRED":
		return numberOf(i, "rev_at") == 0
	case "DEL":
		return numberOf(i, "ended") == 0
	case "REG":
		return textOf(i, "state") != "revoked"
	case "SES":
		return true
	}
	return false
}

// exposed reports whether others than its workspace can open an artifact.
func exposed(i item) bool {
	if textOf(i, "status") != string(artifact.Live) {
		return false
	}
	linked := textOf(i, "share") != "" || numberOf(i, "links_at") > numberOf(i, "links_closed")
	return linked || numberOf(i, "no") > numberOf(i, "views_closed")
}

// raiseEpoch ends all credentials of a workspace. No store does that alone: only a takeover does, for its member. The
// attribute gap keeps a repetition from raising it again.
func (r rows) raiseEpoch(ctx context.Context, w id.Workspace, now time.Time) error {
	_, err := r.change(ctx, update{
		key:    keyOf("W#"+string(w), "META"),
		set:    "SET #gap = :now ADD #epoch :one",
		only:   "attribute_exists(pk) AND (attribute_not_exists(#gap) OR #gap < :lately)",
		values: item{":now": millis(now), ":one": number(1), ":lately": millis(now.Add(-limits.Day))},
		names:  map[string]string{"#gap": "gap", "#epoch": "epoch"},
	})
	return err
}

// close ends the links and public views of an artifact. A store would ask for an open workspace and record an event, as
// if a member had asked for it.
func (r rows) close(ctx context.Context, of artifact.Artifact, now time.Time) error {
	_, err := r.change(ctx, update{
		key:  keyOf("A#"+string(of.ID), "META"),
		set:  "SET #closed = :now, #views = :no REMOVE #share, #until ADD #ver :one",
		only: "#status = :live",
		values: item{
			":now":  millis(of.NextLink(now)),
			":no":   number(int64(of.Number)),
			":one":  number(1),
			":live": str(string(artifact.Live)),
		},
		names: map[string]string{
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
