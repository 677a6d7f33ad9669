package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

const (
	maxProviders = 100
	maxIssuer    = 255 // bytes
)

var (
	// defaultAlgorithms are those of a provider whose entry names none.
	defaultAlgorithms = []string{"ES256", "RS256"}
	domainShape       = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+$`)
)

// Parse reads a trust list: a JSON array with one object for each provider. The members of an object are issuer,
// display_name, client_ids, jwks_uri, algorithms, issuer_aliases, jit, email_domains and max_auth_age; Parse refuses
// others. An empty list trusts no provider. Issuers and keys have https URLs; those at the origins in insecure may have
// http ones. The error names every wrong entry.
func Parse(data []byte, insecure ...string) ([]Provider, error) {
	var entries []json.RawMessage
	if !jsontext.Value(data).IsValid() || json.Unmarshal(data, &entries) != nil || entries == nil {
		return nil, errors.New("the list of providers is no JSON array without a member twice")
	}
	if len(entries) > maxProviders {
		return nil, fmt.Errorf("the list has more than %d providers", maxProviders)
	}
	var out []Provider
	var wrong []error
	seen := map[string]bool{}
	for i, raw := range entries {
		p, err := parseProvider(raw, insecure)
		for _, issuer := range append([]string{p.Issuer}, p.Aliases...) {
			if err == nil && seen[issuer] {
				err = errors.New("issuer or issuer_aliases holds an issuer that the list has already")
			}
			seen[issuer] = true
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("provider %d of the list: %w", i+1, err))
		}
		out = append(out, p)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return out, nil
}

// entry is a provider as the list describes it.
type entry struct {
	Issuer       string   `json:"issuer"`
	DisplayName  string   `json:"display_name"`
	ClientIDs    []string `json:"client_ids"`
	JWKS         string   `json:"jwks_uri"`
	Algorithms   []string `json:"algorithms"`
	Aliases      []string `json:"issuer_aliases"`
	JIT          string   `json:"jit"`
	EmailDomains []string `json:"email_domains"`
	MaxAuthAge   int      `json:"max_auth_age"`
}

// spellings are alternative names of members.
var spellings = map[string]string{
	"displayName":   "display_name",
	"clientIds":     "client_ids",
	"jwksUri":       "jwks_uri",
	"issuerAliases": "issuer_aliases",
	"emailDomains":  "email_domains",
	"maxAuthAge":    "max_auth_age",
}

// readEntry reads the members by their exact names.
func readEntry(raw json.RawMessage) (e entry, present claims, err error) {
	members, err := object(raw)
	if err != nil {
		return e, nil, err
	}
	present = claims{}
	for name, value := range members {
		if other, ok := spellings[name]; ok {
			name = other
		}
		switch {
		case present.has(name):
			return e, nil, fmt.Errorf("%s stands twice, in two spellings", name)
		case name != strings.ToLower(name):
			return e, nil, fmt.Errorf("there is no member %q", name)
		case string(value) == "null":
			return e, nil, fmt.Errorf("%s is null", name)
		}
		present[name] = value
	}
	plain, err := json.Marshal(present)
	if err != nil {
		return e, nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(plain))
	decoder.DisallowUnknownFields()
	return e, present, decoder.Decode(&e)
}

// maxSignInAge is how long ago the person of an assertion may have signed in at the provider.
const maxSignInAge = time.Hour

func parseProvider(raw json.RawMessage, insecure []string) (Provider, error) {
	e, present, err := readEntry(raw)
	if err != nil {
		return Provider{}, err
	}
	if !present.has("jwks_uri") {
		e.JWKS = strings.TrimSuffix(e.Issuer, "/") + "/.well-known/jwks.json"
	}
	if !present.has("algorithms") {
		e.Algorithms = slices.Clone(defaultAlgorithms)
	}
	if !present.has("max_auth_age") {
		e.MaxAuthAge = int(maxSignInAge / time.Second)
	}
	if !present.has("jit") {
		e.JIT = "provision"
	}
	return Provider{
		Issuer:       e.Issuer,
		Aliases:      e.Aliases,
		Name:         e.DisplayName,
		ClientIDs:    e.ClientIDs,
		JWKS:         e.JWKS,
		Algorithms:   e.Algorithms,
		Provision:    e.JIT == "provision",
		EmailDomains: e.EmailDomains,
		MaxAuthAge:   time.Duration(e.MaxAuthAge) * time.Second,
	}, errors.Join(e.checkURLs(insecure), e.checkRules(present))
}

// checkURLs checks the issuer, its aliases, the URL of the keys and the display name.
func (e entry) checkURLs(insecure []string) error {
	var wrong []error
	for _, issuer := range append([]string{e.Issuer}, e.Aliases...) {
		if !plainURL(issuer, insecure) || strings.Contains(issuer, "?") || len(issuer) > maxIssuer {
			wrong = append(wrong, errors.New("issuer and issuer_aliases are https URLs without user, query and fragment"))
			break
		}
	}
	if !plainURL(e.JWKS, insecure) {
		wrong = append(wrong, errors.New("jwks_uri is an https URL without user and fragment"))
	}
	name := utf8.RuneCountInString(e.DisplayName)
	if name < 1 || name > limits.ClientNameRunes || text.OneLine(e.DisplayName) != e.DisplayName {
		wrong = append(wrong, fmt.Errorf("display_name is one line of 1 to %d characters", limits.ClientNameRunes))
	}
	return errors.Join(wrong...)
}

// plainURL reports whether a text is an absolute https URL, or one at an origin that may use http.
func plainURL(s string, insecure []string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || strings.Contains(s, "#") || !text.Identifier(s) {
		return false
	}
	return strings.HasPrefix(s, "https://") || slices.Contains(insecure, u.Scheme+"://"+u.Host)
}

// checkRules checks clients, algorithms, jit, domains and the age of sign-ins.
func (e entry) checkRules(present claims) error {
	var wrong []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	badClient := func(id string) bool { return id == "" || len(id) > maxClaim }
	refuse(len(e.ClientIDs) == 0 || slices.ContainsFunc(e.ClientIDs, badClient),
		"client_ids holds at least one text of 1 to %d bytes", maxClaim)
	unknown := func(algorithm string) bool { return families[algorithm] == "" }
	refuse(len(e.Algorithms) == 0 || slices.ContainsFunc(e.Algorithms, unknown),
		"algorithms holds some of ES256, ES384, EdDSA, RS256 and PS256")
	refuse(e.JIT != "provision" && e.JIT != "deny", "jit is provision or deny")
	badDomain := func(domain string) bool { return !domainShape.MatchString(domain) }
	refuse(present.has("email_domains") && len(e.EmailDomains) == 0 || slices.ContainsFunc(e.EmailDomains, badDomain),
		"email_domains holds at least one domain name in lower case")
	longest := int(maxSignInAge / time.Second)
	refuse(e.MaxAuthAge < 1 || e.MaxAuthAge > longest, "max_auth_age is 1 to %d seconds", longest)
	return errors.Join(wrong...)
}
