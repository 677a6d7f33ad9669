package invariant

import (
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/rows"
	"vitrine/shared/platform/event"
)

// Removed returns one error for each thing that is left of a workspace whose deletion is done, and for each object or
// revision of another one that suffered:
//
//	I9  nothing in the tables or the bucket names the workspace, or what its record tells of, but events, and items that
//	    end by themselves and hold no content
//
// No other process may write meanwhile.
func Removed(ctx context.Context, d Deployment) []error {
	var lost error
	all := d.check(ctx, func(s *snapshot, b *breaches) {
		for _, w := range s.removed() {
			s.checkRemoved(b, w)
			left := map[string]int64{}
			for _, kind := range []string{"o/", "d/", "b/", "x/"} {
				if err := d.List(ctx, kind+w+"/", left); err != nil {
					lost = err
				}
			}
			for key := range left {
				b.add("I9: workspace %s is deleted, and the object %s is left", w, key)
			}
		}
		s.checkObjects(b)
		s.checkBundles(b)
		s.checkRevisions(b)
	})
	if lost != nil {
		return append(all, lost)
	}
	return all
}

// removed names the workspaces whose deletion is done, and those that were claimed into them.
func (s *snapshot) removed() (all []string) {
	for _, e := range s.events {
		if e.Text("action") == string(event.DeletionDone) {
			all = append(all, strings.TrimPrefix(e.Text("pk"), "W#"))
		}
	}
	for _, e := range s.events {
		into := strings.TrimPrefix(e.Text("pk"), "W#")
		if e.Text("action") == string(event.WorkspaceClaimed) && slices.Contains(all, into) {
			all = append(all, e.Text("on_id"))
		}
	}
	return all
}

// passing are the kinds of items that may be left, because they end by themselves: ended grants and codes of OAuth
// clients, used claim tokens, and in table hot counters and records of repeated requests.
var passing = []string{"CRED#", "UC#", "CT#", "i:", "r:", "d:", "b:", "p:"}

func (s *snapshot) checkRemoved(b *breaches, w string) {
	names := map[string]bool{w: true}
	for _, e := range s.events {
		if e.Text("pk") != "W#"+w {
			continue
		}
		of := []string{e.Text("on_id"), e.Text("rev"), e.Text("art")}
		if by := e.Text("by_type"); by == event.Member || by == event.Key { // others act in it from outside
			of = append(of, e.Text("by_id"))
		}
		for _, name := range of {
			names[name] = name != "" && e.Text("on_type") != event.OnClient // clients serve several workspaces
		}
	}
	for _, i := range slices.Concat(s.core, s.hot) {
		ends := i.Has("ttl") && slices.ContainsFunc(passing, func(kind string) bool {
			return strings.HasPrefix(i.Text("pk"), kind)
		})
		if name := mentions(i, names); name != "" && !ends {
			b.add("I9: workspace %s is deleted, and %s %s still names %s", w, i.Text("pk"), i.Text("sk"), name)
		}
	}
}

// mentions returns one of the names that an item holds, in its keys or in any text.
func mentions(i rows.Item, names map[string]bool) string {
	for _, v := range i {
		var texts []string
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			texts = []string{v.Value}
		case *types.AttributeValueMemberSS:
			texts = v.Value
		}
		for _, text := range texts {
			for name, counts := range names {
				if counts && strings.Contains(text, name) {
					return name
				}
			}
		}
	}
	return ""
}
