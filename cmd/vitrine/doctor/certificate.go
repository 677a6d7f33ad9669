package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"strings"
	"time"

	"vitrine/shared/platform/limits"
)

// certificateWarning is how long before its end a certificate is worth a word.
const certificateWarning = 14 * limits.Day

func day(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

// checkTLS says until when the certificate of the server is valid.
func (e *examination) checkTLS(context.Context) []Finding {
	if e.first == nil || e.first.TLS == nil || len(e.first.TLS.PeerCertificates) == 0 {
		return nil
	}
	ends := e.first.TLS.PeerCertificates[0].NotAfter
	f := found("tls", OK, "the certificate of %s is valid until %s", hostOf(e.Server), day(ends))
	if ends.Sub(e.Now()) < certificateWarning {
		f.State = Warning
		f = f.then("Tell whoever runs the server to renew it")
	}
	return []Finding{f}
}

// certificateProblem explains an error of TLS.
func (e *examination) certificateProblem(err error) (f Finding, ok bool) {
	host := hostOf(e.Server)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	if plain || errors.Is(err, http.ErrSchemeMismatch) {
		return found("tls", Wrong, "%s does not speak TLS", host).
			then("Check the address: is it http://, or another port? vitrine config get url prints it"), true
	}
	if name, ok := errors.AsType[x509.HostnameError](err); ok {
		return found("tls", Wrong, "the certificate of %s is for another host: %s", host, names(name.Certificate)).
			then(otherServer), true
	}
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err); ok && bad.Reason == x509.Expired {
		return e.outOfTime(bad.Cert), true
	}
	if unknown, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return untrusted(host, unknown.Cert), true
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return found("tls", Wrong, "the certificate of %s is not accepted: %v", host, bad.Err).
			then("Tell whoever runs the server"), true
	}
	return f, false
}

// names returns for which hosts a certificate is.
func names(c *x509.Certificate) string {
	all := c.DNSNames
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

func (e *examination) outOfTime(c *x509.Certificate) Finding {
	host := hostOf(e.Server)
	f := found("tls", Wrong, "the certificate of %s ended on %s", host, day(c.NotAfter))
	if e.Now().Before(c.NotBefore) {
		f.Message = "the certificate of " + host + " begins on " + day(c.NotBefore)
	}
	now := day(e.Now())
	return f.then("If it is not %s now, correct the clock of this machine; else tell whoever runs the server", now)
}

// untrusted explains a certificate of an authority that this machine does not trust. Programs that look into TLS show
// such ones, too.
func untrusted(host string, c *x509.Certificate) Finding {
	by := "is signed by itself"
	if c != nil && c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) != nil {
		by = "is signed by " + c.Issuer.String()
	}
	return found("tls", Wrong, "the certificate of %s %s, which this machine does not trust", host, by).
		then("If that is expected, let this machine trust it; on Linux SSL_CERT_FILE=FILE names a file with it. " +
			"Otherwise something between here and the server answers in its place")
}
