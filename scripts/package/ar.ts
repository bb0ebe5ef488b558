/** A file in an archive of the format `ar`, which Debian packages have. */
export interface ArMember {
  name: string
  content: Uint8Array
}

const MAGIC = '!<arch>\n'
const HEAD_BYTES = 60
const END_OF_HEAD = '`\n'

/** Archive → its files. Throws when it is damaged. Source: ar(5). */
export function readAr(archive: Buffer): ArMember[] {
  if (archive.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Error('not an archive of the format ar')
  const members: ArMember[] = []
  for (let at = MAGIC.length; at < archive.length; ) {
    const head = archive.toString('latin1', at, at + HEAD_BYTES)
    const bytes = Number(head.slice(48, 58))
    if (!head.endsWith(END_OF_HEAD) || !Number.isSafeInteger(bytes)) throw new Error('damaged archive of the format ar')
    const from = at + HEAD_BYTES
    members.push({ name: head.slice(0, 16).trimEnd(), content: archive.subarray(from, from + bytes) })
    at = from + bytes + (bytes % 2)
  }
  return members
}

/** Files → an archive, owned by root, with one time in seconds since 1970. */
export function writeAr(members: readonly ArMember[], time: number): Buffer {
  const parts = members.flatMap(({ name, content }) => {
    const columns: [text: string, width: number][] = [
      [name, 16],
      [String(time), 12],
      ['0', 6],
      ['0', 6],
      ['100644', 8],
      [String(content.length), 10],
    ]
    const head = columns.map(([text, width]) => text.padEnd(width)).join('') + END_OF_HEAD
    return [Buffer.from(head), content, Buffer.alloc(content.length % 2, '\n')]
  })
  return Buffer.concat([Buffer.from(MAGIC), ...parts])
}
