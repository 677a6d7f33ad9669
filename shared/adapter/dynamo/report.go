package dynamo

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/abuse"
	"vitrine/shared/publishing/link"
)

// Reports stores reports of abuse. Those of one artifact are a partition, ordered by day. listIndex lists all of them
// by their time.
type Reports struct {
	*db
	metadata
}

var (
	_ abuse.Store      = Reports{}
	_ abuse.InboxStore = Reports{}
)

func reportItem(r abuse.Report) item {
	return encode(reportKey(r), &r, reportFields).
		str("g1p", reports).str("g1s", timeKey(r.At, r.ID)).ttl(r.At.Add(limits.ReportLife))
}

func reportFields(f fields, r *abuse.Report) {
	text(f, "id", &r.ID)
	text(f, "art", &r.Artifact)
	text(f, "ws", &r.Workspace)
	text(f, "link", &r.Link)
	text(f, "address", &r.Reporter)
	text(f, "kind", &r.Reason)
	text(f, "text", &r.Text)
	text(f, "email", &r.Email)
	f.time("created", &r.At)
	f.time("handled", &r.HandledAt)
	text(f, "handled_by", &r.HandledBy)
}

// Link implements abuse.Store.
func (s Reports) Link(ctx context.Context, p id.Public) (*link.Link, error) {
	i, err := s.get(ctx, linkKey(p))
	return readLink(i, p), err
}

// errReported means that the reporter has already reported the artifact on that day.
var errReported = errors.New("reported before")

// Add implements abuse.Store.
func (s Reports) Add(ctx context.Context, r abuse.Report, e event.Event) error {
	t := s.begin()
	t.put(reportItem(r), "attribute_not_exists(#pk)", nil, func(item) error { return errReported })
	t.record(e)
	if err := s.commit(ctx, t); !errors.Is(err, errReported) {
		return err
	}
	return nil
}

func readReport(i item) *abuse.Report { return decode(i, &abuse.Report{}, reportFields) }

// Reports implements abuse.InboxStore.
func (s Reports) Reports(
	ctx context.Context, a id.Artifact, after string, limit int,
) ([]abuse.Report, string, error) {
	if a == "" {
		all := []partition{{index: listIndex, name: reports, after: after}}
		return pageOf(ctx, s.db, all, limit, func(ctx context.Context, found []item) (map[string]abuse.Report, error) {
			return tableRows(ctx, s.db, found, readReport)
		})
	}
	condition, v := "#pk = :list", values{"list": reportsOf(a)}
	if after != "" {
		condition += " AND #sk < :after"
		v["after"] = after
	}
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		KeyConditionExpression:    &condition,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: v.attributes(),
		ScanIndexForward:          aws.Bool(false),
		Limit:                     aws.Int32(int32(limit + 1)),
	})
	if err != nil {
		return nil, "", unavailable(err)
	}
	rows := make([]abuse.Report, len(out.Items))
	for n, i := range out.Items {
		rows[n] = *readReport(i)
	}
	if len(rows) <= limit {
		return rows, "", nil
	}
	return rows[:limit], rows[limit-1].Place(), nil
}

// Report implements abuse.InboxStore.
func (s Reports) Report(ctx context.Context, a id.Artifact, place string) (*abuse.Report, error) {
	i, err := s.get(ctx, key{reportsOf(a), place})
	return readReport(i), err
}

// Handle implements abuse.InboxStore.
func (s Reports) Handle(ctx context.Context, r abuse.Report, e event.Event) error {
	t := s.begin()
	t.update(reportKey(r), "SET #handled = :at, #handled_by = :by",
		"attribute_exists(#pk) AND attribute_not_exists(#handled)",
		values{"at": r.HandledAt, "by": string(r.HandledBy)}, func(item) error { return abuse.ErrHandled })
	t.record(e)
	return s.commit(ctx, t)
}
