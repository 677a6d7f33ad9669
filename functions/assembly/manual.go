package assembly

import "vitrine/shared/platform/manual"

// Manual returns what the deployment tells agents about itself. All hosts make the same one of their configuration.
func (s *Services) Manual() manual.Manual {
	return manual.New(manual.Deployment{
		Origins: s.Config.Origins,
		Policy:  s.Config.Policy,
		Limits:  &s.Config.Limits,
	})
}
