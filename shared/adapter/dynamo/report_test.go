package dynamo

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/account"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/abuse"
)

func reportOf(a id.Artifact, reporter string, at time.Time) abuse.Report {
	return abuse.Report{
		ID:        id.NewReport(),
		Artifact:  a,
		Workspace: id.NewWorkspace(),
		Link:      id.NewPublic(),
		Reporter:  reporter,
		Reason:    abuse.Phishing,
		Text:      "It asks for\nmy password.",
		Email:     "ada@example.test",
		At:        at,
	}
}

func eventOf(r abuse.Report) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: r.Workspace,
		At:        r.At,
		Action:    event.ArtifactReported,
		Actor:     event.BySystem(),
		Target:    event.Target{Type: event.OnArtifact, ID: string(r.Artifact)},
	}
}

// reportsIn returns the reports of a partition of the table or of its index, newest first.
func reportsIn(t *testing.T, s Stores, index *string, partition string) (found []abuse.Report) {
	t.Helper()
	name := "pk"
	if index != nil {
		name = "g1p"
	}
	condition := "#" + name + " = :list"
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		IndexName:                 index,
		KeyConditionExpression:    &condition,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: values{"list": partition}.attributes(),
		ScanIndexForward:          aws.Bool(false),
	})
	noError(t, err)
	for _, i := range out.Items {
		found = append(found, *decode(i, &abuse.Report{}, reportFields))
		if ttl := item(i).getSeconds("ttl"); !ttl.Equal(found[len(found)-1].At.Add(limits.ReportLife).Truncate(time.Second)) {
			t.Errorf("it goes at %v", ttl)
		}
	}
	return found
}

func recordedIn(t *testing.T, s Stores, w id.Workspace) int {
	t.Helper()
	rows, _, _, err := s.Events.List(ctx, account.Filter{Workspace: w}, now(), account.Position{}, 100)
	noError(t, err)
	return len(rows)
}

func TestAReporterHasOneReportOfAnArtifactADay(t *testing.T) {
	s, a := newStore(t), id.NewArtifact()
	at := now().Truncate(limits.Day) // so that an hour later is the same day
	w := id.NewWorkspace()
	errs := parallel.Calls(20, func(n int) error {
		r := reportOf(a, "one", at.Add(time.Duration(n)*time.Hour))
		r.Workspace = w
		return s.Reports.Add(ctx, r, eventOf(r))
	})
	for n, err := range errs {
		if err != nil {
			t.Errorf("report %d: %v", n, err)
		}
	}
	first := reportsIn(t, s, nil, "RPT#"+string(a))
	if n := len(first); n != 1 || recordedIn(t, s, w) != 1 {
		t.Errorf("%d reports, %d events", n, recordedIn(t, s, w))
	}
	for _, r := range []abuse.Report{
		reportOf(a, "two", at), reportOf(a, "one", at.Add(limits.Day)), reportOf(id.NewArtifact(), "one", at),
	} {
		noError(t, s.Reports.Add(ctx, r, eventOf(r)))
	}
	if n := len(reportsIn(t, s, aws.String(listIndex), reports)); n != 4 {
		t.Errorf("%d reports of others, of another day and of another artifact", n)
	}
}

func TestACrashLeavesAReportWithItsEventOrNothing(t *testing.T) {
	for name, c := range map[string]struct {
		crash func(*chaos.Rule)
		kept  int
	}{
		"before": {func(r *chaos.Rule) { r.Before(chaos.Fail(chaos.ErrCrashed)) }, 0},
		"after":  {func(r *chaos.Rule) { r.After(chaos.Fail(chaos.ErrCrashed)) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			faults, plain := chaos.For(t), newStore(t)
			s := New(newClient(t, faults.Add), plain.tables)
			r := reportOf(id.NewArtifact(), "one", now())
			c.crash(faults.On("TransactWriteItems"))
			if err := s.Reports.Add(ctx, r, eventOf(r)); err == nil {
				t.Error("a crash is no failure")
			}
			rows, events := len(reportsIn(t, plain, nil, reportKey(r).pk)), recordedIn(t, plain, r.Workspace)
			if rows != c.kept || events != c.kept {
				t.Errorf("%d reports, %d events", rows, events)
			}
			if err := s.Reports.Add(ctx, r, eventOf(r)); err != nil || recordedIn(t, plain, r.Workspace) != 1 {
				t.Errorf("again: %v", err)
			}
		})
	}
}
