/** UTF-7 bytes → text: `+` and base64 of UTF-16 up to a `-` or another character; `+-` is a plus. Truncated or
 *  malformed input becomes U+FFFD or is dropped; bytes beyond ASCII are read as windows-1252. Linear, never throws. RFC
 *  2152 */
export function decodeUtf7(bytes: Uint8Array): string {
  const text = new TextDecoder('windows-1252').decode(bytes)
  if (!text.includes('+')) return text
  return text.replace(/\+([A-Za-z0-9+/]*)-?/g, (shifted, base64: string) =>
    base64 === '' ? (shifted === '+-' ? '+' : shifted) : utf16Of(base64),
  )
}

function utf16Of(base64: string): string {
  const units = Buffer.from(base64, 'base64')
  return units
    .subarray(0, units.length & ~1)
    .swap16()
    .toString('utf16le')
    .toWellFormed()
}
