package web

// HSTS is for which names browsers are told, for a year, to use HTTPS only. More than the host's own is the deployer's
// choice: whatever else there is below that name would have to speak HTTPS too.
type HSTS string

// The rules. The zero value is HSTSHost.
const (
	HSTSHost       HSTS = "host"       // the host's own name
	HSTSSubdomains HSTS = "subdomains" // and those below it
	HSTSPreload    HSTS = "preload"    // the same, and browsers may be built with the rule
)

const ownName = "max-age=31536000"

var hstsHeaders = map[HSTS]string{
	"":             ownName,
	HSTSHost:       ownName,
	HSTSSubdomains: ownName + "; includeSubDomains",
	HSTSPreload:    ownName + "; includeSubDomains; preload",
}

// Valid tells whether there is such a rule.
func (h HSTS) Valid() bool { return hstsHeaders[h] != "" }

func (h HSTS) header() string { return hstsHeaders[h] }
