package stack

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"vitrine/scripts/testkit/idp/provider"
	"vitrine/shared/adapter/oidc"
	"vitrine/shared/boot"
	"vitrine/shared/platform/address"
)

const (
	identityPort = 6 // counted like the hosts' ports
	identityName = "identity provider"
	clientID     = "vitrine"
)

// Identity is the development identity provider of a stack, which signs in any address.
type Identity struct {
	*provider.Provider
	Issuer string

	client     boot.OIDC
	secretFile string
}

// identify takes the provider's port and makes the provider; it answers once it is served.
func (s *Stack) identify(o Options) ([]net.Listener, error) {
	port := 0
	if o.BasePort != 0 {
		port = o.BasePort + identityPort
	}
	listeners, err := listen(identityName, port, true)
	if err != nil {
		return listeners, err
	}
	issuer := "http://" + net.JoinHostPort("localhost", strconv.Itoa(listeners[0].Addr().(*net.TCPAddr).Port))
	secret, file, err := provider.Secret(o.Data)
	if err != nil {
		return listeners, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	p, err := provider.Open(provider.Options{
		Issuer:   issuer,
		Audience: s.Origins.API,
		Data:     o.Data,
		Now:      o.Now,
		Client:   client(s.Origins, secret),
	})
	s.Identity = Identity{
		Provider:   p,
		Issuer:     issuer,
		secretFile: file,
		client: boot.OIDC{
			Issuer:       issuer,
			ClientID:     clientID,
			ClientSecret: secret,
			Logout:       oidc.RPInitiatedLogout,
		},
	}
	return listeners, err
}

// client returns the provider's registration of the hosts.
func client(o address.Origins, secret string) provider.Client {
	return provider.Client{
		ID:        clientID,
		Secret:    secret,
		Callbacks: []string{o.App + boot.CallbackPath},
		SignedOut: []string{o.App + boot.SignedOutPath},
	}
}

var _ http.Handler = Identity{}
