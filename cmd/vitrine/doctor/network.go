package doctor

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"vitrine/cmd/vitrine/client"
)

// otherServer is the step for a server that is not there.
const otherServer = "Check the address, which vitrine config get url prints, and that the server runs"

// hostOf returns the host of an address, with its port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the server"
	}
	return u.Host
}

// checkProxy says which variable sends requests for the server through a proxy.
func (e *examination) checkProxy(ctx context.Context) []Finding {
	transport, ok := e.Caller.HTTP.Transport.(*http.Transport)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.Server, nil)
	if e.Server == "" || !ok || transport.Proxy == nil || err != nil {
		return nil
	}
	variable := e.proxyVariable(req.URL.Scheme)
	through, err := transport.Proxy(req)
	switch {
	case err != nil: // it quotes the value, which may hold a password
		return []Finding{found("proxy", Wrong, "%s is not the address of a proxy", variable).then("Correct or unset it")}
	case through != nil:
		e.proxy = through.Host + " (" + variable + ")"
		return []Finding{found("proxy", OK, "requests for %s go through the proxy %s", e.Server, e.proxy)}
	case e.Env(variable) != "":
		return []Finding{found("proxy", OK, "%s does not apply to %s", variable, e.Server)}
	}
	return []Finding{found("proxy", OK, "no proxy is set for %s", e.Server)}
}

// proxyVariable returns the variable that decides for a scheme. The capitals take precedence.
func (e *examination) proxyVariable(scheme string) string {
	name := strings.ToUpper(scheme) + "_PROXY"
	if lower := strings.ToLower(name); e.Env(name) == "" && e.Env(lower) != "" {
		return lower
	}
	return name
}

// checkServer finds out whether the address is that of a deployment.
func (e *examination) checkServer(ctx context.Context) []Finding {
	if e.Server == "" {
		return nil
	}
	resp, err := e.Caller.Probe(ctx, e.Server+"/.well-known/vitrine")
	if err != nil {
		return []Finding{e.unreachable(err)}
	}
	resp.Body.Close()
	e.first = resp
	if resp.StatusCode != http.StatusOK {
		f := found("server", Wrong, "%s answers %s, which is not Vitrine", e.Server, resp.Status).then(otherServer)
		if e.proxy != "" {
			f.Message += ", or the answer of the proxy " + e.proxy
		}
		return []Finding{f}
	}
	if e.deployment, err = e.Caller.Discover(ctx, e.Server); err != nil {
		return []Finding{Failed("server", Wrong, err)}
	}
	name := cmp.Or(e.deployment.Hosts.Name, "Vitrine")
	return []Finding{found("server", OK, "%s answers at %s", name, e.Server)}
}

// unreachable explains why there is no answer.
func (e *examination) unreachable(err error) Finding {
	host := hostOf(e.Server)
	if f, ok := e.certificateProblem(err); ok {
		return f
	}
	const direct = "Set NO_PROXY=%s if it can be reached without the proxy, else ask whoever runs the proxy"
	name := (&url.URL{Host: host}).Hostname()
	if refused, ok := errors.AsType[client.ProxyRefusal](err); ok {
		return found("proxy", Wrong, "the proxy %s does not connect to %s: %s", e.proxy, host, refused.Status).
			then(direct, name)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		return found("proxy", Wrong, "the proxy %s does not answer", e.proxy).then(direct, name)
	}
	f := found("server", Wrong, "%s gives no answer", host)
	dns, isName := errors.AsType[*net.DNSError](err)
	timeout, isTimeout := errors.AsType[net.Error](err)
	switch {
	case isName && dns.IsNotFound:
		f.Message = "there is no host " + dns.Name
	case isTimeout && timeout.Timeout():
		f.Message = host + " does not answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Message = "no program listens at " + host
	}
	return f.then(otherServer)
}

// The differences of clocks that count. A clock that is further off judges certificates and the ends of logins wrongly.
const (
	clockWarning = time.Minute
	clockWrong   = 5 * time.Minute
)

// checkClock compares the clock of this machine with the one of the server.
func (e *examination) checkClock(context.Context) []Finding {
	if e.first == nil {
		return nil
	}
	date, err := http.ParseTime(e.first.Header.Get("Date"))
	if err != nil {
		return nil
	}
	ahead := e.Now().Sub(date).Round(time.Second)
	off, side := ahead.Abs(), "ahead of"
	if ahead < 0 {
		side = "behind"
	}
	f := found("clock", OK, "the clock of this machine is right")
	if off >= clockWarning {
		f = found("clock", Warning, "the clock of this machine is %s %s that of the server", off, side).
			then("Let this machine set its clock by the network")
	}
	if off >= clockWrong {
		f.State = Wrong
	}
	return []Finding{f}
}
