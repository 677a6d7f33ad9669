package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// Keys returns a page of the workspace's API keys, newest first. The returned ids are well-formed.
func (m *Member) Keys(ctx context.Context, cursor string, limit int) (l contract.WebKeyList, err error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	k := m.call(http.MethodGet, "/v1/web/keys?"+q.Encode())
	k.about = aboutKey
	if err = m.caller.do(ctx, k, &l); err != nil {
		return l, err
	}
	for _, key := range l.Items {
		if !key.ID.Valid() {
			return l, m.caller.badResponse(m.Hosts.APIURL, "the id of an API key is malformed")
		}
	}
	return l, m.checkPage(l.PageInfo, cursor, len(l.Items))
}

// checkPage refuses a page after which the list could not be continued.
func (d *Deployment) checkPage(p contract.PageInfo, cursor string, rows int) error {
	if next := p.NextCursor; p.HasMore && (next == nil || *next == "" || *next == cursor || rows == 0) {
		return d.caller.badResponse(d.Hosts.APIURL, "the list goes on but does not say where")
	}
	return nil
}

// RevokeKey revokes an API key of the workspace. It may be repeated.
func (m *Member) RevokeKey(ctx context.Context, idem string, key id.Key) (r contract.RevokedKey, err error) {
	k := m.call(http.MethodPost, "/v1/web/keys/"+string(key)+"/revoke")
	k.idem, k.about = idem, aboutKey
	err = m.caller.do(ctx, k, &r)
	return r, err
}
