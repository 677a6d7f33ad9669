package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"vitrine/shared/platform/contract"
)

// Versions asks which versions of this program fit the deployment.
func (d *Deployment) Versions(ctx context.Context) (v contract.CLIVersion, err error) {
	return v, d.caller.do(ctx, call{method: http.MethodGet, host: d.Hosts.APIURL, path: "/v1/public/cli-version"}, &v)
}

// Release downloads a file of a release of this program, of at most so many bytes. The deployment answers with the
// address where the file lies, which gets no credential.
func (d *Deployment) Release(ctx context.Context, version, name string, most int64) (body []byte, err error) {
	address := d.Hosts.AppURL + "/cli/" + url.PathEscape(version) + "/" + url.PathEscape(name)
	return body, d.caller.retry(ctx, func(ctx context.Context) error {
		body, err = d.caller.release(ctx, address, most)
		return err
	})
}

// maxSkill bounds the skill in bytes.
const maxSkill = 1 << 20

// Skill returns the text that tells agents how to use the deployment.
func (d *Deployment) Skill(ctx context.Context) (text []byte, err error) {
	return text, d.caller.retry(ctx, func(ctx context.Context) error {
		text, err = d.caller.release(ctx, d.Hosts.AppURL+"/skill.md", maxSkill)
		return err
	})
}

func (c *Caller) release(ctx context.Context, address string, most int64) ([]byte, error) {
	resp, err := c.getPart(ctx, address, 0, -1, "")
	if err != nil {
		return nil, c.unreachable(ctx, address, err)
	}
	if resp.StatusCode == http.StatusFound {
		resp.Body.Close()
		to, err := resp.Location()
		if err != nil || !keepsTLS(to.String(), address) {
			return nil, c.badResponse(address, "it leads to an address that is not protected as it is itself")
		}
		address = to.String()
		if err := c.encrypted(address); err != nil {
			return nil, err
		}
		if resp, err = c.getPart(ctx, address, 0, -1, ""); err != nil {
			return nil, c.unreachable(ctx, address, err)
		}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return nil, c.refused(call{}, resp, body)
	case err != nil:
		return nil, c.unreachable(ctx, address, err)
	case int64(len(body)) > most:
		return nil, c.badResponse(address, "the file has more than %d bytes", most)
	}
	return body, nil
}
