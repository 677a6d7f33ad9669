package replay

import (
	"context"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

func deleteArtifact(ctx context.Context, a *applier, e event.Event) (Outcome, error) {
	found, owner, err := a.artifact(ctx, id.Artifact(e.Target.ID))
	switch {
	case err != nil || found == nil:
		return Unknown, err
	case found.Status != artifact.Live:
		return Already, nil
	}
	return a.commit(ctx, e, func() error {
		return a.stores.Artifacts.Delete(ctx, artifact.Deletion{
			Command:   a.command(e),
			Result:    result,
			Workspace: owner.ID,
			Artifact:  *found,
			At:        e.At,
			Event:     e,
		})
	})
}
