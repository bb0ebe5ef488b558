import { readdirSync, readFileSync } from 'node:fs'

/** Fixtures of one kind, by name: the mail with CRLF line ends, as on the wire; on disk they have LF. */
export function loadFixtures(kind: 'arf' | 'dsn'): Map<string, Uint8Array> {
  const folder = new URL(`../fixtures/${kind}/`, import.meta.url)
  const names = readdirSync(folder).filter((name) => name.endsWith('.eml'))
  return new Map(
    names.sort().map((name) => [name.replace('.eml', ''), asMail(readFileSync(new URL(name, folder), 'utf8'))]),
  )
}

/** Text with LF line ends → mail on the wire. */
export function asMail(text: string): Uint8Array {
  return Buffer.from(text.replaceAll('\n', '\r\n'))
}
