package page

import (
	"embed"
	"encoding/json"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed site
var files embed.FS

// maxEnter bounds the body of what hands a code in.
const maxEnter = 4 << 10

// Entered is told to a page that was let in.
type Entered struct {
	Token     string `json:"token"`
	Principal string `json:"principal"` // who acts on it
	Name      string `json:"name"`      // of this machine
}

// Handler serves the page, and passes on to API what is none of it. Refuse answers in the way of the API.
type Handler struct {
	Door   *Door
	Who    Entered // without the token
	API    http.Handler
	Refuse func(w http.ResponseWriter, status int, code, detail string)
}

// ServeHTTP implements http.Handler. What comes from another site's page, or means another host, is refused.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range h.headers() {
		w.Header().Set(name, value)
	}
	switch from := r.Header.Get("Sec-Fetch-Site"); {
	case r.Host != h.Door.addr:
		h.Refuse(w, http.StatusForbidden, "forbidden", "the request names another host")
		return
	case !reads(r) && r.Header.Get("Origin") != "http://"+h.Door.addr,
		r.URL.Path != "/" && from != "" && from != "same-origin":
		h.Refuse(w, http.StatusForbidden, "forbidden", "the request comes from another site's page")
		return
	}
	switch r.URL.Path {
	case "/page/enter":
		h.enter(w, r)
		return
	case "/page/leave":
		last, ok := false, r.Method == http.MethodPost
		if ok {
			last, ok = h.Door.leave(r)
		}
		if !ok {
			h.Refuse(w, http.StatusUnauthorized, "auth", over)
			return
		}
		if last {
			http.SetCookie(w, h.cookie("", -1))
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if reads(r) && h.file(w, r.URL.Path) {
		return
	}
	h.API.ServeHTTP(w, r)
}

// reads reports whether a request changes nothing, so that it may come without an Origin.
func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// over is why a page is told nothing.
const over = "this link is unknown or no longer valid: run “fairlead web” for a new one"

// enter lets a page in.
func (h *Handler) enter(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Code string `json:"code"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(http.MaxBytesReader(w, r.Body, maxEnter)).Decode(&in) != nil {
		h.Refuse(w, http.StatusBadRequest, "invalid", "POST {\"code\": …}")
		return
	}
	cookie, token, ok := h.Door.enter(in.Code, r.CookiesNamed(h.Door.cookie))
	if !ok {
		h.Refuse(w, http.StatusForbidden, "forbidden", "the link was used, or is too old: “fairlead web” gives another")
		return
	}
	http.SetCookie(w, h.cookie(cookie, int(SessionTime.Seconds())))
	who := h.Who
	who.Token = token
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(who)
}

func (h *Handler) cookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: h.Door.cookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// headers keep what is shown from being more than that. Styles may stand in the page because the terminal makes them.
func (h *Handler) headers() map[string]string {
	return map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
			"connect-src 'self' ws://" + h.Door.addr + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
			"require-trusted-types-for 'script'; trusted-types 'none'",
		"Referrer-Policy":              "no-referrer",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           "camera=(), microphone=(), geolocation=()",
		"Cache-Control":                "no-store",
	}
}

// file sends a file of the site, if there is one.
func (h *Handler) file(w http.ResponseWriter, name string) bool {
	if name == "/" {
		name = "/index.html"
	}
	text, err := fs.ReadFile(files, path.Join("site", strings.TrimPrefix(name, "/")))
	if err != nil || name != path.Clean(name) {
		return false
	}
	kind := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // the machine's own table may say otherwise
	case ".js", ".mjs":
		kind = "text/javascript; charset=utf-8"
	case ".css":
		kind = "text/css; charset=utf-8"
	case ".html":
		kind = "text/html; charset=utf-8"
	case ".svg":
		kind = "image/svg+xml"
	case "", ".txt", ".md":
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text)
	return true
}
