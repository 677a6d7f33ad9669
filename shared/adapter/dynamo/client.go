package dynamo

import (
	"context"
	"strings"
	"time"

	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/id"
)

// Clients stores OAuth clients.
type Clients struct{ *db }

var _ oauth.Clients = Clients{}

// Client implements oauth.Clients.
func (s Clients) Client(ctx context.Context, c id.Client) (*oauth.Client, error) {
	i, err := s.get(ctx, clientKey(c))
	if err != nil || i == nil {
		return nil, err
	}
	return &oauth.Client{
		ID:        c,
		Name:      i.getStr("name"),
		Redirects: strings.Fields(i.getStr("uris")),
		CreatedAt: i.getTime("created"),
		UsedAt:    i.getTime("used_at"),
	}, nil
}

// Add implements oauth.Clients.
func (s Clients) Add(ctx context.Context, c oauth.Client, until time.Time) error {
	t := s.begin()
	t.create(newItem(clientKey(c.ID)).
		str("name", c.Name).str("uris", strings.Join(c.Redirects, " ")).time("created", c.CreatedAt).time("used_at", c.UsedAt).ttl(until))
	return s.commit(ctx, t)
}

// Touch implements oauth.Clients.
func (s Clients) Touch(ctx context.Context, c id.Client, now, since, until time.Time) error {
	_, _, err := s.change(ctx, clientKey(c), "SET #used_at = :now, #ttl = :ttl", "attribute_exists(#pk) AND (attribute_not_exists(#used_at) OR #used_at < :since)",
		values{"now": now, "since": since, "ttl": until.Unix()})
	return err
}
