/** Bytes in a named charset → text; null when the platform does not know the charset. Malformed bytes become U+FFFD; what
 *  calls itself ASCII but is none is read as UTF-8, and failing that as windows-1252. Never throws. */
export function decodeCharset(bytes: Uint8Array, charset: string): string | null {
  const label = charset.trim().toLowerCase()
  if (label === '' || ASCII.has(label)) return guessed(bytes)
  try {
    return new TextDecoder(label as 'utf-8').decode(bytes)
  } catch {
    return null
  }
}

// Names of ASCII that the WHATWG list lacks or takes for windows-1252.
const ASCII = new Set(['us-ascii', 'ascii', 'ansi_x3.4-1968', 'unknown-8bit', 'x-unknown', 'default'])
const STRICT = new TextDecoder('utf-8', { fatal: true })

function guessed(bytes: Uint8Array): string {
  try {
    return STRICT.decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
