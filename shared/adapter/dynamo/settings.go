package dynamo

import (
	"context"

	"vitrine/shared/identity/account"
)

// UpdateSettings implements account.Workspaces. The gate itself tells whether the workspace is open, so no fence is checked.
func (s *Store) UpdateSettings(ctx context.Context, f account.SettingsUpdate) error {
	var t transaction
	s.finish(&t, f.Command, f.Result, f.At)
	t.update(s.tables.Core, workspaceKey(f.Workspace), "SET #name = :name, #adays = :days",
		"attribute_exists(#pk) AND attribute_not_exists(#into) AND attribute_not_exists(#lock)", values{"name": f.Name, "days": f.AutoDays}, closed)
	t.create(s.tables.Events, eventItem(f.Event))
	return s.commit(ctx, &t)
}
