package web

// HSTS is the scope of the Strict-Transport-Security header, which is valid for a year. Only the deployer can choose a
// scope beyond the host's own name, because every other host below that name would need HTTPS too.
type HSTS string

// The scopes. The zero value means HSTSHost.
const (
	HSTSHost       HSTS = "host"       // the host's own name
	HSTSSubdomains HSTS = "subdomains" // the host's own name and those below it
	HSTSPreload    HSTS = "preload"    // as HSTSSubdomains, and browsers may preload the rule
)

const ownName = "max-age=31536000"

var hstsHeaders = map[HSTS]string{
	"":             ownName,
	HSTSHost:       ownName,
	HSTSSubdomains: ownName + "; includeSubDomains",
	HSTSPreload:    ownName + "; includeSubDomains; preload",
}

// Valid reports whether h is a known scope.
func (h HSTS) Valid() bool { return hstsHeaders[h] != "" }

func (h HSTS) header() string { return hstsHeaders[h] }
