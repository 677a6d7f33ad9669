package oauth

import (
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/policy"
)

// Features are the optional parts of a deployment.
type Features struct {
	People bool // people can sign in, so that apps can ask them
	// Documents reports that documents of clients can be fetched, so that apps need not register.
	Documents bool
	Agents    bool // agents can register
	// Providers reports that identity providers of agents are trusted. With Agents, agents can register by them too.
	Providers bool
	// AccountsOnly reports that nobody can publish without an account.
	AccountsOnly bool
	// NoAnonymous reports that agents cannot register without a person.
	NoAnonymous bool
	Brand       policy.Brand
}

// ResourceMetadata describes the api as a protected resource (RFC 9728).
func ResourceMetadata(o address.Origins, b policy.Brand) contract.ResourceMetadata {
	r := resource(o, o.API, b)
	r.ResourceName, r.ResourceDocumentation = b.Title()+" API", o.API+"/auth.md"
	return r
}

// MCPResourceMetadata describes the MCP host as a protected resource.
func MCPResourceMetadata(o address.Origins, b policy.Brand) contract.ResourceMetadata {
	r := resource(o, o.MCP, b)
	r.ResourceName = b.Title() + " MCP"
	return r
}

func resource(o address.Origins, at string, b policy.Brand) contract.ResourceMetadata {
	return contract.ResourceMetadata{
		Resource:             at,
		AuthorizationServers: []string{o.API},
		ScopesSupported:      credential.ScopeStrings(credential.Delegable()),
		BearerMethods:        []string{"header"},
		ResourcePolicy:       b.Privacy,
		ResourceTerms:        b.Terms,
	}
}

// MCPMetadata returns Metadata with the MCP host as its resource instead of the api.
func MCPMetadata(o address.Origins, has Features) contract.ServerMetadata {
	m := Metadata(o, has)
	m.ResourceMetadata = MCPResourceMetadata(o, has.Brand)
	m.ResourceMetadataURL = o.MCP + "/.well-known/oauth-protected-resource"
	m.ProtectedResources = []string{o.MCP, o.MCP + "/"}
	return m
}

// Metadata describes the authorization server (RFC 8414). It names no endpoint that the deployment does not have.
func Metadata(o address.Origins, has Features) contract.ServerMetadata {
	here, public := o.API, []string{"none"}
	m := contract.ServerMetadata{
		ResourceMetadata:      ResourceMetadata(o, has.Brand),
		Issuer:                here,
		TokenEndpoint:         here + "/oauth2/token",
		RevocationEndpoint:    here + "/oauth2/revoke",
		JWKSURI:               here + "/.well-known/jwks.json",
		GrantTypes:            []string{contract.GrantJWTBearer, contract.GrantClaim, contract.GrantClaimAlias},
		ResponseTypes:         []string{"code"},
		ResponseModes:         []string{"query"},
		CodeChallengeMethods:  []string{"S256"},
		TokenAuthMethods:      public,
		RevocationAuthMethods: public,
		IssParameter:          true,
		Policy:                has.Brand.Privacy,
		Terms:                 has.Brand.Terms,
		AgentAuth: contract.AgentAuth{
			Skill:         here + "/auth.md",
			Identity:      here + "/agent/identity",
			Claim:         here + "/agent/identity/claim",
			IdentityTypes: has.IdentityTypes(),
		},
	}
	if has.Agents && has.Providers {
		m.AgentAuth.Assertion = &contract.AssertionTypes{Types: []string{contract.TypeIDJAG}}
		m.AgentAuth.Events = here + "/agent/event/notify"
		m.AgentAuth.EventTypes = []string{contract.EventRevokedAlias}
	}
	if has.People {
		m.AuthorizationEndpoint = here + "/oauth2/authorize"
		m.RegistrationEndpoint = here + "/oauth2/register"
		m.DeviceAuthorizationEndpoint = here + "/oauth2/device_authorization"
		m.ClientDocuments = has.Documents
		m.GrantTypes = append(m.GrantTypes,
			contract.GrantCode, contract.GrantRefresh, contract.GrantDevice, contract.GrantExchange)
	}
	return m
}

// IdentityTypes returns the ways in which agents can register.
func (f Features) IdentityTypes() []string {
	types := []string{} // never null on the wire
	if f.Agents && !f.NoAnonymous {
		types = append(types, contract.AnonymousType)
	}
	if f.Agents && f.Providers {
		types = append(types, contract.AssertionIdentity)
	}
	return types
}
