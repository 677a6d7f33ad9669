package abuse

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
	"vitrine/shared/publishing/artifact"
)

// Service takes reports. A sender learns only whether a form is complete, because the answer must not tell what exists.
type Service struct {
	Store Store
	Reader
	*pow.Gate
	Addresses keyring.Derived
	Now       func() time.Time
}

// File takes a report. Refusals in order: *Invalid for an incomplete form, rate_limited_actor for too many reports,
// *pow.Required with the time until no work is required, pow_invalid. A report of a missing or ended artifact, and a
// repetition, change no state and are no failure.
func (s *Service) File(ctx context.Context, r Request) error {
	t, form, err := s.check(r.Form)
	if err != nil {
		return err
	}
	reporter := address.Subject(r.From, s.Addresses)
	all := pow.Count{Rate: s.Limits.Reports, Subject: "all"}
	if err := s.Admit(ctx, pow.Count{Rate: s.Limits.Report, Subject: reporter}, all, r.Proof); err != nil {
		return err
	}
	now := s.Now().UTC().Truncate(time.Millisecond) // the precision that is stored
	a, err := s.find(ctx, t, now)
	if err != nil || a == nil {
		return err
	}
	report := Report{
		ID:        id.NewReport(),
		Artifact:  a.ID,
		Workspace: a.Owner,
		Link:      t.Link,
		Reporter:  reporter,
		Reason:    form.Reason,
		Text:      form.Text,
		Email:     form.Email,
		At:        now,
	}
	return s.Store.Add(ctx, report, newEvent(report, r.RequestID))
}

// newEvent returns the event of a report. It is recorded in the artifact's workspace, for operators. Members never see
// it, because account.Service.Story shows them only some events of the system. It has neither the sender nor the text.
func newEvent(r Report, requestID string) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: r.Workspace,
		At:        r.At,
		Action:    event.ArtifactReported,
		Actor:     event.BySystem(),
		Target:    event.Target{Type: event.OnArtifact, ID: string(r.Artifact)},
		Detail:    string(r.Reason),
		RequestID: requestID,
	}
}

// check returns the target of a form, and the form with its text and e-mail address cleaned.
func (s *Service) check(f Form) (Target, Form, error) {
	t, ok := s.Read(f.Target)
	if !ok {
		return t, f, invalid(TargetField, "This is no address of this service. Paste the whole link that you were "+
			"given, which begins with %s/al/, or the address of the page or file as your browser shows it.", s.Origins.App)
	}
	if !slices.Contains(Reasons, f.Reason) {
		return t, f, invalid(ReasonField, "Choose what is wrong with it.")
	}
	if f.Text, ok = text.Message(f.Text, limits.ReportRunes); !ok {
		return t, f, invalid(TextField, "This is too long: write at most %d characters.", limits.ReportRunes)
	}
	if f.Reason == Other && f.Text == "" {
		return t, f, invalid(TextField, "Say in a few words what is wrong with it.")
	}
	if f.Email == "" {
		return t, f, nil
	}
	if f.Email, ok = text.Email(f.Email); !ok {
		return t, f, invalid(EmailField, "This is no e-mail address. Correct it, or leave the field empty.")
	}
	return t, f, nil
}

// find returns the artifact of a target as its owner has it now, nil if there is none or it has ended. A revoked link
// still leads to the artifact, because its holder saw that one.
func (s *Service) find(ctx context.Context, t Target, now time.Time) (*artifact.Artifact, error) {
	if t.Link != "" && t.Artifact == "" {
		l, err := s.Store.Link(ctx, t.Link)
		if err != nil || l == nil {
			return nil, err
		}
		t.Artifact = l.Artifact
	}
	if t.Artifact == "" {
		return nil, nil
	}
	a, err := s.Store.Artifact(ctx, t.Artifact)
	if err != nil || a == nil {
		return nil, err
	}
	owner, err := s.Store.Workspace(ctx, a.Owner)
	if err != nil || owner == nil {
		return nil, err
	}
	if owner.ClaimedInto != "" {
		a = a.AfterClaimOf(*owner)
	}
	if !a.Active(now) {
		return nil, nil
	}
	return a, nil
}
