/** Returns path and query of a request URL, percent-encoded as in a URL, whatever its host: `http://a b:99999//x?y` gives
 *  `{pathname: '//x', search: '?y'}`, and so does the path alone, as in HTTP/1.0. Never throws. */
export function requestTarget({ url }: Pick<Request, 'url'>): { pathname: string; search: string } {
  const target = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '')
  const { pathname, search } = new URL(`http://localhost${target.startsWith('/') ? '' : '/'}${target}`)
  return { pathname, search }
}
