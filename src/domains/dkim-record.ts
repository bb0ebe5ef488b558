/** Texts at a DKIM name, and the value that should be there → true if they have its key and no other one. White space does
 *  not count. With another key beside it, receivers may use either (RFC 6376 §3.6.2.2). */
export function showsKey(found: readonly string[], value: string): boolean {
  const wanted = tagsOf(value)
  const keys = found.map(tagsOf).filter((tags) => tags.has('p'))
  const isOurs = (tags: Map<string, string>) =>
    tags.get('p') === wanted.get('p') &&
    (tags.get('k') ?? 'rsa') === wanted.get('k') &&
    (tags.get('v') ?? 'DKIM1') === 'DKIM1'
  return keys.length > 0 && keys.every(isOurs)
}

/** `a=1; b=2` → tags by name, without white space (RFC 6376 §3.2). */
export function tagsOf(text: string): Map<string, string> {
  const tags = new Map<string, string>()
  for (const part of text.split(';')) {
    const equals = part.indexOf('=')
    if (equals > 0) tags.set(part.slice(0, equals).trim(), part.slice(equals + 1).replace(/\s+/g, ''))
  }
  return tags
}
