package app

import (
	"vitrine/functions/app/pages"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/view"
)

// panel returns what a viewer offers beside an artifact; address is that of the page.
func (h *Host) panel(v view.View, address string) pages.Panel {
	p := pages.Panel{
		Files:   make([]pages.File, len(v.Files)),
		Count:   len(v.Tree),
		Total:   v.Tree.Size(),
		Next:    v.Next,
		Bundle:  bundleOf(v.Bundle),
		Address: address,
		APIURL:  h.Origins.API,
	}
	for i, f := range v.Files {
		p.Files[i] = pages.File{
			Path:  f.Path,
			URL:   f.URLs.Bytes,
			Kind:  pages.Kind(media.Of(f.Path).ContentType),
			Size:  f.Size,
			Shown: f.Path == v.Revision.Entrypoint && !v.Revision.Listing,
		}
	}
	return p
}

func bundleOf(b artifact.Availability) pages.Bundle {
	return pages.Bundle{
		State:      string(b.Status),
		URL:        b.URL,
		Size:       b.Size,
		RetryAfter: b.RetryAfter,
	}
}
