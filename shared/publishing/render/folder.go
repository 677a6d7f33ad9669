package render

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/tree"
)

func init() {
	views[media.DirectoryView] = viewer{show: folderView}
	views[media.ImageView] = viewer{show: imageView}
	views[media.AudioView] = viewer{show: audioView}
	views[media.VideoView] = viewer{show: videoView}
}

// entry is a file or a folder of a listing.
type entry struct {
	name   string
	path   string
	folder bool
	files  int // of a folder
	size   int64
}

// entries returns the direct children of a folder: folders first, then files, by name.
func (s Source) entries() []entry {
	prefix := ""
	if s.Path != "" {
		prefix = s.Path + "/"
	}
	found := map[string]*entry{}
	for _, f := range s.Files {
		rest, below := strings.CutPrefix(f.Path, prefix)
		if !below || rest == "" {
			continue
		}
		name, _, deeper := strings.Cut(rest, "/")
		key := name
		if deeper {
			key += "/"
		}
		e := found[key]
		if e == nil {
			e = &entry{name: name, path: prefix + name, folder: deeper}
			found[key] = e
		}
		e.files++
		e.size += f.Size
	}
	out := make([]entry, 0, len(found))
	for _, e := range found {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b entry) int {
		return cmp.Or(bit(b.folder)-bit(a.folder), strings.Compare(a.name, b.name))
	})
	return out
}

// maxEntries is how many files and folders a listing shows.
const maxEntries = 500

// folderView lists a folder. Its images are a gallery.
func folderView(_ context.Context, s Source, b *body, _ Query) error {
	entries := s.entries()
	var images []entry
	for _, e := range entries {
		if !e.folder && media.ViewOf(e.name) == media.ImageView {
			images = append(images, e)
		}
	}
	if len(entries) > maxEntries {
		b.notes = append(b.notes, fmt.Sprintf("Only the first %d entries are shown.", maxEntries))
		entries = entries[:maxEntries]
	}
	s.gallery(b, images[:min(len(images), maxEntries)])
	b.printf(`<div class="v-wide" tabindex="0"><table class="v-list"><thead><tr><th scope="col">Name</th><th scope="col" class="v-num">Size</th>` +
		`</tr></thead><tbody>`)
	for _, e := range entries {
		to, name := s.page(e.path), e.name
		if e.folder {
			to, name = s.pageOf(e.path), name+"/"
		}
		b.printf(`<tr><td><a href="%s">%s</a></td><td class="v-num">%s</td></tr>`, escape(to), escape(clip(name, 300)), size(e.size))
	}
	b.printf("</tbody></table></div>")
	return nil
}

// gallery writes images as a grid. A link opens a large image below its row, without a script. It is not an overlay,
// because that would cover the whole page, and a page in a viewer frame is longer than the part that its reader sees.
func (s Source) gallery(b *body, images []entry) {
	if len(images) == 0 {
		return
	}
	b.printf(`<div class="v-gallery">`)
	for i, e := range images {
		b.printf(`<a class="v-thumb" id="t%d" href="#i%d"><img src="%s" alt="%s" loading="lazy" width="160" height="120"></a>`, i+1, i+1,
			escape(s.raw(e.path)), escape(clip(e.name, 300)))
		b.printf(`<figure class="v-large" id="i%d"><img src="%s" alt="%s" loading="lazy" width="1600" height="1200"><figcaption>`,
			i+1, escape(s.raw(e.path)), escape(clip(e.name, 300)))
		if i > 0 {
			b.printf(`<a href="#i%d">Previous</a> `, i)
		}
		b.printf(`<a href="%s">%s</a> `, escape(s.pageOf(e.path)), escape(clip(e.name, 120)))
		if i < len(images)-1 {
			b.printf(`<a href="#i%d">Next</a> `, i+2)
		}
		b.printf(`<a href="#t%d">Close</a></figcaption></figure>`, i+1)
	}
	b.printf("</div>")
}

// imageView shows an image in an img element, in which an SVG runs no script.
func imageView(_ context.Context, s Source, b *body, _ Query) error {
	b.printf(`<p class="v-stage"><img src="%s" alt="%s"></p>`, escape(s.raw(s.Path)), escape(path.Base(s.Path)))
	s.siblings(b)
	return nil
}

// siblings writes links to the images before and after this one in its folder.
func (s Source) siblings(b *body) {
	folder := s
	folder.File = tree.File{}
	if folder.Path = path.Dir(s.Path); folder.Path == "." {
		folder.Path = ""
	}
	var images []string
	for _, e := range folder.entries() {
		if !e.folder && media.ViewOf(e.name) == media.ImageView {
			images = append(images, e.path)
		}
	}
	at := slices.Index(images, s.Path)
	if len(images) < 2 || at < 0 {
		return
	}
	b.printf(`<p class="v-steps">`)
	if at > 0 {
		b.printf(`<a href="%s">Previous: %s</a> `, escape(s.pageOf(images[at-1])), escape(clip(path.Base(images[at-1]), 120)))
	}
	if at < len(images)-1 {
		b.printf(`<a href="%s">Next: %s</a>`, escape(s.pageOf(images[at+1])), escape(clip(path.Base(images[at+1]), 120)))
	}
	b.printf("</p>")
}

func audioView(_ context.Context, s Source, b *body, _ Query) error {
	b.printf(`<p class="v-stage"><audio controls preload="metadata" src="%s" aria-label="%s"></audio></p>`, escape(s.raw(s.Path)),
		escape(path.Base(s.Path)))
	return nil
}

func videoView(_ context.Context, s Source, b *body, _ Query) error {
	b.printf(`<p class="v-stage"><video controls preload="metadata" src="%s" aria-label="%s"></video></p>`, escape(s.raw(s.Path)),
		escape(path.Base(s.Path)))
	return nil
}
