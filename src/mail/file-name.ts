/** An attachment's name in the mail → a safe file name: no folder, no control character, no reversed text, at most 200
 *  characters; `attachment-3.pdf` without a name. */
export function fileName(said: unknown, contentType: string, number: number): string {
  const name = (typeof said === 'string' ? said : '').toWellFormed().replace(UNSEEN, '').replace(/[/\\]/g, '_').trim()
  if (name === '' || /^\.+$/.test(name)) return `attachment-${number}.${extensionOf(contentType)}`
  const characters = [...name]
  if (characters.length <= LONGEST) return name
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ''
  return characters.slice(0, LONGEST - extension.length).join('') + extension
}

/** Controls, and characters that change the writing direction: `gpj.exe` must not look like `exe.jpg`. */
const UNSEEN = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const LONGEST = 200

const EXTENSIONS: Record<string, string> = {
  'message/rfc822': 'eml',
  'text/plain': 'txt',
  'text/calendar': 'ics',
  'image/svg+xml': 'svg',
  'message/delivery-status': 'txt',
}

function extensionOf(contentType: string): string {
  const subtype = contentType.split('/')[1] ?? ''
  return EXTENSIONS[contentType] ?? (/^[a-z0-9]{2,5}$/.test(subtype) ? subtype : 'bin')
}

/** File name → media type by its extension, `application/octet-stream` if none or unknown. From the runtime's table;
 *  opens nothing. */
export function typeByName(name: string): string {
  const ending = /\.(\w{1,10})$/.exec(name)?.[1]
  return ending === undefined ? 'application/octet-stream' : Bun.file(`x.${ending}`).type.replace(/;.*/, '')
}
