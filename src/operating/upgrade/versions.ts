/** The files of a release, as its SHA256SUMS lists them. */
export type Sums = ReadonlyMap<string, string>

const MOST_CHARACTERS = 65_536
const MOST_LINES = 200
const SUM = /^([0-9a-f]{64}) [ *]([A-Za-z0-9][A-Za-z0-9._+~-]{0,150})$/
const VERSION = '[0-9][0-9A-Za-z.+~-]{0,40}'
/** Of the archive of a target. */
const ARCHIVE = new RegExp(`^postrider-(${VERSION})-linux-((?:x64|arm64)(?:-musl)?)\\.tar\\.gz$`)

/** SHA256SUMS → name and hash (hex) of each file. Null if a line is anything else, a name is listed twice or looks like a path,
 *  or there are too many: such a list is not of scripts/release. */
export function parseSums(text: string): Sums | null {
  if (text.length > MOST_CHARACTERS) return null
  const lines = text.split('\n').filter((line) => line !== '')
  if (lines.length === 0 || lines.length > MOST_LINES) return null
  const sums = new Map<string, string>()
  for (const line of lines) {
    const [, hash, name] = SUM.exec(line) ?? []
    if (hash === undefined || name === undefined || sums.has(name)) return null
    sums.set(name, hash)
  }
  return sums
}

/** The versions with an archive for this target, highest first. */
export function versionsFor(target: string, sums: Sums): string[] {
  const found = [...sums.keys()].flatMap((name) => {
    const [, version, of] = ARCHIVE.exec(name) ?? []
    return version !== undefined && of === target ? [version] : []
  })
  return found.sort((a, b) => compareVersions(b, a))
}

export const archiveOf = (version: string, target: string) => `postrider-${version}-linux-${target}.tar.gz`

/** Debian's name of the architecture is in the name of its package. */
export const packageOf = (version: string, target: string) =>
  `postrider_${version}_${target.startsWith('arm64') ? 'arm64' : 'amd64'}.deb`

/** Order of two versions by the rules of semver.org, 11: negative if `a` is older. A part that is not a number counts as
 *  text. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  return compareParts(left.numbers, right.numbers) || comparePreReleases(left.preRelease, right.preRelease)
}

function partsOf(version: string): { numbers: string[]; preRelease: string[] } {
  const plain = version.split('+')[0] ?? ''
  const dash = plain.search(/[-~]/)
  const [numbers, preRelease] = dash < 0 ? [plain, ''] : [plain.slice(0, dash), plain.slice(dash + 1)]
  return { numbers: numbers.split('.'), preRelease: preRelease === '' ? [] : preRelease.split('.') }
}

/** A version without a pre-release is newer than one with it. */
function comparePreReleases(a: string[], b: string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  return compareParts(a, b)
}

function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const order = comparePart(a[at], b[at])
    if (order !== 0) return order
  }
  return 0
}

function comparePart(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? -1 : 1
  const [x, y] = [a, b].map((part) => (/^\d+$/.test(part) ? Number(part) : null))
  if (x !== null && y !== null && x !== undefined && y !== undefined) return Math.sign(x - y)
  if (x === null && y === null) return a < b ? -1 : a > b ? 1 : 0
  return x === null ? 1 : -1
}
