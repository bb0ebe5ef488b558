/** A content coding that responses have. RFC 9110 §8.4.1 */
export type ContentCoding = 'br' | 'gzip'

/** `Accept-Encoding` header → the best coding that the client accepts; null for none, and without the header. Reads the
 *  first 20 codings. RFC 9110 §12.5.3 */
export function acceptedCoding(header: string | null): ContentCoding | null {
  const accepted = (header ?? '').split(',', 20).flatMap((each) => {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name]
  })
  if (accepted.includes('br')) return 'br'
  return accepted.includes('gzip') ? 'gzip' : null
}
