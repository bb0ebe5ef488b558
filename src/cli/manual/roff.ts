/** Text → source of man pages. Requests and escapes: man(7), groff(7). */

/** Escapes text so that roff prints it literally, including a dot at the start of a line and non-ASCII characters. */
export function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '\\(ga')
    .replaceAll("'", '\\(aq')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/^\./gm, '\\&.')
    .replaceAll(
      /[^\x00-\x7f]/gu,
      (letter) => `\\[u${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
}

/** Quotes an argument of a roff request. */
export const quoted = (text: string) => `"${plain(text).replaceAll('"', '\\(dq')}"`

export const bold = (text: string) => `\\fB${plain(text)}\\fR`
export const italic = (text: string) => `\\fI${plain(text)}\\fR`

/** Title line of a page: name, section and version. */
export const title = (name: string, section: number, version: string) =>
  `.TH ${quoted(name)} ${section} "" ${quoted(`Postrider ${version}`)} ${quoted(section === 5 ? 'File formats' : 'User commands')}`

export const heading = (text: string) => `.SH ${quoted(text)}`
export const subheading = (text: string) => `.SS ${quoted(text)}`

/** A tagged paragraph. `term` is roff source, `about` is text. */
export const entry = (term: string, about: string) => `.TP\n${term}\n${plain(about)}`

/** A preformatted block, printed literally. */
export const listing = (text: string) => `.PP\n.EX\n${plain(text)}\n.EE`
