package repair

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vitrine/scripts/testkit/invariant"
)

// Counts are what table core of a set holds.
type Counts struct {
	Workspaces, Live int
	Due              int            // live artifacts that would end at once or lose their draft if the jobs ran
	Of               map[string]int // items, by what their keys begin with, such as SES
}

// Count reads table core.
func Count(ctx context.Context, set invariant.Deployment, now time.Time) (Counts, error) {
	c := Counts{Of: map[string]int{}}
	for i, err := range set.Rows().Scan(ctx, set.Tables.Core) {
		if err != nil {
			return c, err
		}
		kind, _, _ := strings.Cut(i.Text("pk"), "#")
		c.Of[kind]++
		switch {
		case kind == "W" && i.Text("sk") == "META":
			c.Workspaces++
		case kind == "A" && i.Text("sk") == "META" && i.Text("status") == "active":
			c.Live++
		}
		// an artifact is queued at its end or at that of its draft, whichever comes first
		if strings.HasPrefix(i.Text("g2p"), "DUE#ARTIFACT#") && i.Text("g2s") <= fmt.Sprintf("%013d", now.UnixMilli()) {
			c.Due++
		}
	}
	return c, nil
}
