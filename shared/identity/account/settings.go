package account

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

// Workspaces stores the settings of workspaces.
type Workspaces interface {
	// UpdateSettings stores the settings of an open workspace with their event and the command's record in one
	// transaction. Errors: *idempotency.AlreadyDone, not_authenticated (the workspace closed), database_unavailable.
	UpdateSettings(ctx context.Context, f SettingsUpdate) error
}

// SettingsUpdate is everything that a change of settings writes.
type SettingsUpdate struct {
	Command   idempotency.Command
	Result    []byte
	Workspace id.Workspace
	Name      string
	AutoDays  int
	At        time.Time
	Event     event.Event
}

// Settings returns the settings of the caller's workspace. The caller needs the scope admin, as for changing them.
func (s *Service) Settings(by credential.Actor) (contract.Settings, error) {
	if err := by.Require(credential.Admin); err != nil {
		return contract.Settings{}, err
	}
	return settings(by.Workspace, by.Policy), nil
}

func settings(w workspace.Workspace, p limits.Policy) contract.Settings {
	return contract.Settings{
		WorkspaceName:      w.Name,
		AutoDeletionDays:   days(w.Life(p)),
		AutoDeletionBounds: contract.AutoDeletionBounds{MinDays: days(p.MinLife), MaxDays: days(p.MaxLife)},
		UsagePolicy:        contract.SettingsPolicy{BytesPerDay: p.ArtifactSize},
	}
}

func days(d time.Duration) int { return int(d / limits.Day) }

// UpdateSettings changes the settings of the caller's workspace. A repeated command gets the first result.
func (s *Service) UpdateSettings(
	ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, asked contract.UpdateSettings,
) (contract.Settings, error) {
	if err := by.Require(credential.Admin); err != nil {
		return contract.Settings{}, err
	}
	now := s.Now()
	return idempotency.Do(c, r, now, func() (contract.Settings, error) {
		w, err := updated(by, asked)
		if err != nil {
			return contract.Settings{}, err
		}
		answer := settings(w, by.Policy)
		changed := changes(by.Workspace, w, by.Policy)
		return answer, s.Workspaces.UpdateSettings(ctx, SettingsUpdate{
			Command:   c,
			Result:    idempotency.Encode(answer),
			Workspace: w.ID,
			Name:      w.Name,
			AutoDays:  w.AutoDays,
			At:        now,
			Event:     by.Record(now, event.SettingsUpdated, event.OnWorkspace, string(w.ID), changed),
		})
	})
}

// updated returns the caller's workspace with the requested settings, or refuses them.
func updated(by credential.Actor, asked contract.UpdateSettings) (workspace.Workspace, error) {
	w := by.Workspace
	w.AutoDays = asked.AutoDeletionDays
	var err error
	if w.Name, err = text.WorkspaceName.Clean(asked.WorkspaceName); err != nil {
		return w, err
	}
	if least, most := days(by.Policy.MinLife), days(by.Policy.MaxLife); w.AutoDays < least || w.AutoDays > most {
		return w, fault.New(fault.InvalidRequest, "auto_deletion_days must be %d to %d here", least, most)
	}
	return w, nil
}

// changes describes the difference between two versions of a workspace.
func changes(was, is workspace.Workspace, p limits.Policy) string {
	var said []string
	if was.Name != is.Name {
		said = append(said, fmt.Sprintf("name is now %q", is.Name))
	}
	if was.Life(p) != is.Life(p) {
		lives := fmt.Sprintf("artifacts live %d days unless asked otherwise", is.AutoDays)
		if is.Life(p) >= limits.Forever {
			lives = "artifacts do not expire unless asked otherwise"
		}
		said = append(said, lives)
	}
	if said == nil {
		return "nothing is different"
	}
	return strings.Join(said, "; ")
}
