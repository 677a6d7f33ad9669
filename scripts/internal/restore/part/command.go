package part

import (
	"cmp"
	"context"
	"fmt"

	"vitrine/shared/platform/id"
)

// Part is what a command puts back.
type Part struct {
	Artifact  id.Artifact  // one of both is empty
	Workspace id.Workspace // whose artifacts are put back
	Plan      bool         // say what would be done, and change nothing
}

// The kinds of parts.
const (
	OfArtifact  = "artifact"
	OfWorkspace = "workspace"
)

// Name takes an id from a command line.
func (p *Part) Name(kind, text string) (err error) {
	if kind == OfWorkspace {
		p.Workspace = id.Workspace(text)
		_, err = p.Workspace.Bits()
	} else {
		p.Artifact = id.Artifact(text)
		_, err = p.Artifact.Bits()
	}
	if err != nil {
		return fmt.Errorf("%q cannot be the id of the %s: copy it from the record of events, or from the address of its page",
			text, kind)
	}
	return nil
}

// PutBack puts the part back, or says what that would do.
func (p Part) PutBack(ctx context.Context, r Restore) error {
	switch {
	case p.Plan && p.Workspace != "":
		return r.Plans(ctx, p.Workspace)
	case p.Plan:
		plan, err := r.Plan(ctx, p.Artifact)
		if err != nil || plan.Refusal != nil {
			return cmp.Or(err, plan.Refusal)
		}
		plan.Print(r.Out)
		return nil
	case p.Workspace != "":
		return r.Workspace(ctx, p.Workspace)
	}
	return r.Artifact(ctx, p.Artifact)
}
