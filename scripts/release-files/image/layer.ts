import { tarEnd, tarPadding } from '../../../src/cli/backup/tar.ts'

/** A file, folder or link in a layer of an image. */
export interface LayerEntry {
  /** Relative to the root, without a slash at the end: `usr/bin/postrider`. At most 100 bytes. */
  path: string
  type: 'file' | 'folder' | 'link'
  content?: Uint8Array
  /** Of a link. */
  target?: string
  mode?: number
  /** Number of user and group. */
  owner?: number
  /** Extended attributes, such as file capabilities. */
  attributes?: Record<string, Uint8Array>
}

const TYPES = { file: '0', link: '2', folder: '5', attributes: 'x' }

/** Entries → a tar archive with all folders above them, each with one time in seconds since 1970. Throws RangeError for long
 *  paths. Sources: POSIX.1-2017, pax; OCI Image Format 1.1, layer.md. */
export function layerOf(entries: readonly LayerEntry[], time: number): Buffer<ArrayBuffer> {
  return Buffer.concat([...withFolders(entries).flatMap((entry) => partsOf(entry, time)), tarEnd()])
}

/** Docker creates a folder that has no entry of its own for root only. */
function withFolders(entries: readonly LayerEntry[]): LayerEntry[] {
  const seen = new Set<string>()
  return entries.flatMap((entry) => {
    const names = entry.path.split('/')
    const above = names
      .map((_, count) => names.slice(0, count).join('/'))
      .filter((path) => path !== '' && !seen.has(path))
    for (const path of [...above, entry.path]) seen.add(path)
    return [...above.map((path): LayerEntry => ({ path, type: 'folder' })), entry]
  })
}

function partsOf(entry: LayerEntry, time: number): Uint8Array[] {
  const { path, type, content = new Uint8Array(), target = '', owner = 0 } = entry
  const mode = entry.mode ?? (type === 'file' ? 0o644 : type === 'folder' ? 0o755 : 0o777)
  const name = type === 'folder' ? `${path}/` : path
  const head = headerOf({ name, type, bytes: content.length, target, mode, owner, time })
  return [...attributesOf(entry, time), head, content, tarPadding(content.length)]
}

/** Extended attributes stand before their file, as pax records. */
function attributesOf({ path, attributes }: LayerEntry, time: number): Uint8Array[] {
  if (attributes === undefined) return []
  const content = Buffer.concat(
    Object.entries(attributes).map(([name, value]) => record(`SCHILY.xattr.${name}`, value)),
  )
  const name = `PaxHeaders/${path}`
  const head = headerOf({ name, type: 'attributes', bytes: content.length, target: '', mode: 0o644, owner: 0, time })
  return [head, content, tarPadding(content.length)]
}

/** `<length> <name>=<value>\n`, where the length counts its own digits. */
function record(name: string, value: Uint8Array): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${name}=`), value, Buffer.from('\n')])
  let length = rest.length + 1
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

interface Header {
  name: string
  type: keyof typeof TYPES
  bytes: number
  target: string
  mode: number
  owner: number
  time: number
}

function headerOf({ name, type, bytes, target, mode, owner, time }: Header): Buffer {
  if (Buffer.byteLength(name) > 100) throw new RangeError(`the path ${name} is too long for a layer`)
  const head = Buffer.alloc(512)
  const numbers: [at: number, digits: number, value: number][] = [
    [100, 7, mode],
    [108, 7, owner],
    [116, 7, owner],
    [124, 11, bytes],
    [136, 11, time],
  ]
  head.write(name, 0)
  for (const [at, digits, value] of numbers) head.write(octal(value, digits), at)
  head.write(TYPES[type], 156)
  head.write(target, 157)
  head.write('ustar\x0000', 257)
  head.fill(' ', 148, 156)
  const sum = head.reduce((all, byte) => all + byte, 0)
  head.write(`${octal(sum, 6)}\0 `, 148)
  return head
}

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
