package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"vitrine/shared/platform/contract"
)

// providerRoutes are the rows of agents that run at a provider.
func (b *bench) providerRoutes() []row {
	return []row{
		{name: "assertion-known", title: "POST assertion of a known person", stock: b.knownPersons},
		{name: "assertion-new", title: "POST assertion of a new person", stock: b.newPersons},
		{name: "assertion-member", title: "POST assertion, a member has to agree", stock: b.askedMembers},
		{name: "provider-jwt-bearer", title: "POST token, jwt-bearer of a provider's agent", stock: b.vouchedTokens},
		{name: "event", title: "POST security event", stock: b.events},
	}
}

// provider returns the origin of the identity provider, to which the app host sends people.
func (b *bench) provider(ctx context.Context) (string, error) {
	plain := *b.anyone
	client := *b.anyone.HTTP
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	plain.HTTP = &client
	a, err := plain.Do(ctx, "GET", b.hosts.Origins.App+"/api/auth/sign-in?returnPathname=/dashboard", nil,
		"Sec-Fetch-Site", "same-origin")
	if err := expect(a, err, http.StatusSeeOther); err != nil {
		return "", err
	}
	at, err := url.Parse(a.Header.Get("Location"))
	if err != nil {
		return "", err
	}
	return at.Scheme + "://" + at.Host, nil
}

// signed returns a token that the provider prints about a person.
func (b *bench) signed(ctx context.Context, kind, email string) (string, error) {
	provider, err := b.provider(ctx)
	if err != nil {
		return "", err
	}
	a, err := b.anyone.Do(ctx, "GET", provider+"/"+kind+"?email="+url.QueryEscape(email), nil)
	return strings.TrimSpace(string(a.Body)), expect(a, err, http.StatusOK)
}

// presenting sends an assertion about a person, which is signed now.
func (b *bench) presenting(ctx context.Context, email string, status int, out any) (task, error) {
	assertion, err := b.signed(ctx, "assertion", email)
	return func(ctx context.Context) error {
		a, err := b.anyone.Do(ctx, "POST", b.anyone.At.APIURL+"/agent/identity", contract.RegisterAgent{
			Type:          contract.AssertionIdentity,
			AssertionType: contract.TypeIDJAG,
			Assertion:     assertion,
		})
		if out == nil {
			return expect(a, err, status)
		}
		return unpack(a, err, status, out)
	}, err
}

// vouched registers an agent of a person.
func (b *bench) vouched(ctx context.Context, email string) (r contract.RegisteredAgent, err error) {
	register, err := b.presenting(ctx, email, http.StatusOK, &r)
	if err == nil {
		err = register(ctx)
	}
	return r, err
}

func (b *bench) newPersons(ctx context.Context) ([]task, error) {
	return each(ctx, b.stocked(), func(ctx context.Context, n int) (task, error) {
		return b.presenting(ctx, fmt.Sprintf("new-%d@example.org", n), http.StatusOK, nil)
	})
}

// knownPersons come again, a few of them many times.
func (b *bench) knownPersons(ctx context.Context) ([]task, error) {
	return each(ctx, b.stocked(), func(ctx context.Context, n int) (task, error) {
		email := fmt.Sprintf("known-%d@example.org", n%manyClients)
		if n < manyClients {
			if _, err := b.vouched(ctx, email); err != nil {
				return nil, err
			}
		}
		return b.presenting(ctx, email, http.StatusOK, nil)
	})
}

// askedMembers signed in as people.
func (b *bench) askedMembers(ctx context.Context) ([]task, error) {
	return each(ctx, b.stocked(), func(ctx context.Context, n int) (task, error) {
		return b.presenting(ctx, fmt.Sprintf("bench-%d@example.org", n%manyClients), http.StatusUnauthorized, nil)
	})
}

func (b *bench) vouchedTokens(ctx context.Context) ([]task, error) {
	return each(ctx, b.stocked(), func(ctx context.Context, n int) (task, error) {
		r, err := b.vouched(ctx, fmt.Sprintf("token-%d@example.org", n))
		return b.granting(http.StatusOK, url.Values{
			"grant_type": {contract.GrantJWTBearer},
			"assertion":  {r.IdentityAssertion},
		}), err
	})
}

// events end the delegation of a person each.
func (b *bench) events(ctx context.Context) ([]task, error) {
	return each(ctx, b.stocked(), func(ctx context.Context, n int) (task, error) {
		email := fmt.Sprintf("event-%d@example.org", n)
		if _, err := b.vouched(ctx, email); err != nil {
			return nil, err
		}
		event, err := b.signed(ctx, "event", email)
		return func(ctx context.Context) error {
			a, err := b.anyone.Do(ctx, "POST", b.anyone.At.APIURL+"/agent/event/notify", event,
				"Content-Type", "application/secevent+jwt")
			return expect(a, err, http.StatusAccepted)
		}, err
	})
}
