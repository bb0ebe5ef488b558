/** Request URL → its path and query, whatever its host: `http://a b:99999//x?y`, or the path alone as in HTTP/1.0, →
 *  `{pathname: '//x', search: '?y'}`, percent-encoded as in a URL. Never throws. */
export function requestTarget({ url }: Pick<Request, 'url'>): { pathname: string; search: string } {
  const target = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '')
  const { pathname, search } = new URL(`http://localhost${target.startsWith('/') ? '' : '/'}${target}`)
  return { pathname, search }
}
