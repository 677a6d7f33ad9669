package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/id"
)

// Clients stores OAuth clients.
type Clients struct{ *db }

var _ oauth.Clients = Clients{}

func clientFields(f fields, c *oauth.Client) {
	text(f, "name", &c.Name)
	words(f, "uris", &c.Redirects)
	f.time("created", &c.CreatedAt)
	f.time("used_at", &c.UsedAt)
	f.time("fresh", &c.FreshUntil)
	text(f, "why", &c.Unusable)
}

// Client implements oauth.Clients.
func (s Clients) Client(ctx context.Context, c id.Client) (*oauth.Client, error) {
	i, err := s.get(ctx, clientKey(c))
	return decode(i, &oauth.Client{ID: c}, clientFields), err
}

// Add implements oauth.Clients.
func (s Clients) Add(ctx context.Context, c oauth.Client, until time.Time) error {
	t := s.begin()
	t.create(encode(clientKey(c.ID), &c, clientFields).ttl(until))
	return s.commit(ctx, t)
}

// Put implements oauth.Clients.
func (s Clients) Put(ctx context.Context, c oauth.Client, until time.Time) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.tables.Core,
		Item:      encode(clientKey(c.ID), &c, clientFields).ttl(until),
	})
	_, err = held(err)
	return err
}

// Touch implements oauth.Clients.
func (s Clients) Touch(ctx context.Context, c id.Client, now, since, until time.Time) error {
	_, _, err := s.change(ctx, clientKey(c), "SET #used_at = :now, #ttl = :ttl",
		"attribute_exists(#pk) AND (attribute_not_exists(#used_at) OR #used_at < :since)",
		values{"now": now, "since": since, "ttl": until.Unix()})
	return err
}
