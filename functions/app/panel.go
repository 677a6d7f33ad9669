package app

import (
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/contract"
)

// panel is what a viewer offers beside an artifact; address is that of the page.
func (h *Host) panel(view contract.PublicAgentView, address string) pages.Panel {
	p := pages.Panel{
		Files:   make([]pages.File, len(view.Files)),
		Bundle:  bundleOf(view.Bundle),
		Address: address,
		APIURL:  h.Origins.API,
	}
	for i, f := range view.Files {
		p.Files[i] = pages.File{
			Path:  f.Path,
			URL:   f.URL,
			Kind:  pages.Kind(f.ContentType),
			Size:  f.SizeBytes,
			Shown: f.Path == view.Entrypoint,
		}
	}
	return p
}

func bundleOf(b contract.Bundle) pages.Bundle {
	return pages.Bundle{
		State:      b.Status,
		URL:        b.URL,
		Size:       b.SizeBytes,
		RetryAfter: time.Duration(b.RetryAfterSeconds) * time.Second,
	}
}
