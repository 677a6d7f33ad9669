package web

// HSTS is the scope of the host's Strict-Transport-Security, which is valid for a year. A scope
// beyond the host's own name is the deployer's choice, because every other host below that name
// would need HTTPS too.
type HSTS string

// The rules. The zero value is HSTSHost.
const (
	HSTSHost       HSTS = "host"       // the host's own name
	HSTSSubdomains HSTS = "subdomains" // and the names below it
	HSTSPreload    HSTS = "preload"    // the same, and browsers may preload it
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
