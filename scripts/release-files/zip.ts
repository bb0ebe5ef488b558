import { crc32, deflateRawSync } from 'node:zlib'

/** A file of an archive: its path and content. */
export type ZipFile = readonly [path: string, content: Uint8Array]

const VERSION = 20
const MADE_ON_UNIX = (3 << 8) | VERSION
const UTF8_NAMES = 0x0800
const DEFLATE = 8
const REGULAR_FILE = 0o100644

/** Files → a ZIP archive with one time in seconds since 1970, in the given order. Source: APPNOTE.TXT 6.3.10, sections 4.3.7,
 *  4.3.12 and 4.3.16. */
export function zipOf(files: readonly ZipFile[], time: number): Buffer {
  const stamp = dosTime(time)
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [path, content] of files) {
    const name = Buffer.from(path)
    const data = deflateRawSync(content, { level: 9 })
    const about = aboutFile({ stamp, content, data, name })
    const head = Buffer.concat([numbers([0x04034b50, 4], [VERSION, 2]), about, name])
    bodies.push(head, data)
    // Comment, disk and internal attributes are empty.
    const rest = numbers([0, 2], [0, 2], [0, 2], [REGULAR_FILE * 0x10000, 4], [at, 4])
    directory.push(Buffer.concat([numbers([0x02014b50, 4], [MADE_ON_UNIX, 2], [VERSION, 2]), about, rest, name]))
    at += head.length + data.length
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0)
  const count = files.length
  const end = numbers([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [size, 4], [at, 4], [0, 2])
  return Buffer.concat([...bodies, ...directory, end])
}

/** What both headers of a file contain, without extra fields. */
function aboutFile(file: {
  stamp: [date: number, time: number]
  content: Uint8Array
  data: Buffer
  name: Buffer
}): Buffer {
  const { stamp, content, data, name } = file
  return numbers(
    [UTF8_NAMES, 2],
    [DEFLATE, 2],
    [stamp[1], 2],
    [stamp[0], 2],
    [crc32(content), 4],
    [data.length, 4],
    [content.length, 4],
    [name.length, 2],
    [0, 2],
  )
}

/** In UTC: MS-DOS's date and time, in steps of two seconds. */
function dosTime(seconds: number): [date: number, time: number] {
  const at = new Date(seconds * 1000)
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  return [date, (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)]
}

function numbers(...fields: [value: number, bytes: number][]): Buffer {
  return Buffer.concat(
    fields.map(([value, bytes]) => {
      const field = Buffer.alloc(bytes)
      field.writeUIntLE(value, 0, bytes)
      return field
    }),
  )
}
