package stack

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"vitrine/functions/assembly"
	"vitrine/scripts/local/idp/provider"
	"vitrine/shared/adapter/oidc"
	trust "vitrine/shared/identity/provider"
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
	// Trusted are the identity providers of agents that the stack trusts.
	Trusted []trust.Provider

	client       assembly.OIDC
	secret, list string // settings that locate the client's secret, and Trusted; empty: none is trusted
}

// trustFile is the trust list in the data folder of a stack.
const trustFile = "providers.json"

// trust writes the trust list of the stack, which has both issuers of the identity provider, and reads it as a function
// does.
func (i *Identity) trust(o Options) error {
	list := i.TrustList()
	if o.Trust != nil {
		list = o.Trust(list)
	}
	if len(list) == 0 {
		return nil
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	file, err := filepath.Abs(filepath.Join(o.Data, trustFile))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return err
	}
	i.list = "file:" + file
	i.Trusted, err = trust.Parse(text, o.fetchOrigins(i.Issuer)...)
	return err
}

// fetchOrigins returns the origins that documents may come from although they are on this machine.
func (o Options) fetchOrigins(identity string) []string {
	return append(slices.Clone(o.FetchOrigins), identity)
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
		Provider: p,
		Issuer:   issuer,
		secret:   "file:" + file,
		client: assembly.OIDC{
			Issuer:       issuer,
			ClientID:     clientID,
			ClientSecret: secret,
			Logout:       oidc.RPInitiatedLogout,
		},
	}
	if err == nil {
		err = s.Identity.trust(o)
	}
	return listeners, err
}

// client returns the provider's registration of the hosts.
func client(o address.Origins, secret string) provider.Client {
	return provider.Client{
		ID:        clientID,
		Secret:    secret,
		Callbacks: []string{o.App + assembly.CallbackPath},
		SignedOut: []string{o.App + assembly.SignedOutPath},
	}
}

var _ http.Handler = Identity{}
